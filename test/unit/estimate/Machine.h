// Two ways to run a step on a host: operator by operator (the graph's meaning, test/oracle/Graph.h), and the lowered program in
// one arena, byte for byte as planned. They must agree exactly.
#pragma once

#include "compiler/lower/program/Program.h"

#include <map>
#include <string>
#include <vector>

namespace tbem::test {

/// Chooses blocked layouts as a vector library does (nChw16c, OIhw16i16o, and OIhw16o16i for the input gradient), runs through
/// the reference backend, and counts its questions.
const tbem_backend& blockedBackend();
int blockedQueries();

/// Values of tensors in row-major order, as doubles.
using Host = std::map<graph::TensorId, std::vector<double>>;

/// Fills every persistent storage with reproducible numbers.
Host initialValues(const graph::Graph& graph, const sema::Values& values);
/// Runs the graph; adds what every tensor's storage holds at the end.
void runGraph(const graph::Graph& graph, const sema::Values& values, Host& host);
/// Runs the program in an arena filled with NaN; returns what each buffer of `wanted` holds afterwards.
std::map<graph::TensorId, std::vector<double>> runProgram(const graph::Graph& graph, const estimate::Program& program,
                                                          const tbem_backend& backend, const Host& initial,
                                                          const std::vector<graph::TensorId>& wanted);

}  // namespace tbem::test
