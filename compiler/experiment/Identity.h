// What makes two rows the same experiment.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "runtime/include/tbem/backend.h"
#include "runtime/measure/Protocol.h"

#include <string>

namespace tbem::driver {

/// What a row is measured on.
struct MeasuredOn {
  std::string backend;
  const tbem_device_info* device = nullptr;  ///< nullptr: it is not there; such rows are equal by graph and backend name alone
  unsigned threads = 0;
  std::string algorithms;  ///< what the row's program takes other than the defaults (Algorithms.h); of a row
                           ///< that another program measures, all that it is made of (foreign/Job.h)
};

/// Hash (32 hexadecimal digits) of all that can change a measurement: the graph with this row's numbers (no names, comments
/// or places), the protocol, the seed, the backend with its library and processor, threads, and the versions of our lowering and
/// of our worker.
std::string identityOf(const graph::Graph& graph, const sema::Values& values, const measure::Settings& protocol,
                       std::uint64_t seed, const MeasuredOn& on);

/// The same of a row that another program measures: what it does is said by `on.algorithms`, and none of our versions matter.
std::string identityOfForeign(const graph::Graph& graph, const sema::Values& values, const measure::Settings& protocol,
                              std::uint64_t seed, const MeasuredOn& on);

/// Hash of the graph with this row's numbers alone: the same mathematics, wherever and however it runs.
std::string graphIdentity(const graph::Graph& graph, const sema::Values& values);

}  // namespace tbem::driver
