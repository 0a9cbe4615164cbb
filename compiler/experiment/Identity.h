// What makes two rows the same experiment.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "runtime/include/tbem/backend.h"
#include "runtime/measure/Protocol.h"

#include <string>

namespace tbem::driver {

/// Hash (32 hexadecimal digits) of all that can change a measurement: the graph with this row's numbers (no names, comments
/// or places), the protocol, the seed, the backend with its library and processor, threads, and the versions of our lowering and
/// of our worker. `algorithms`: what the row's program takes other than the defaults (Algorithms.h). `device` is null for a
/// backend that is not there: such rows are equal by graph and backend name alone.
std::string identityOf(const graph::Graph& graph, const sema::Values& values, const measure::Settings& protocol,
                       std::uint64_t seed, const std::string& backend, const tbem_device_info* device, unsigned threads,
                       const std::string& algorithms);

/// Hash of the graph with this row's numbers alone: the same mathematics, wherever and however it runs.
std::string graphIdentity(const graph::Graph& graph, const sema::Values& values);

}  // namespace tbem::driver
