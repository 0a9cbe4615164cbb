// FLOPs of a gated network once it is known, or assumed, which samples go which way.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/graph/ir/Branches.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::estimate {

/// How likely a sample that comes to a gate meets its condition (a skip leaves the arm out; an exit fires).
struct GateProbabilities {
  std::map<std::string, double, std::less<>> of;  ///< by the gate's path
  std::optional<double> others;                   ///< of gates that are not listed
};
/// "0.3", "exit_at[0].exit=0.4,unit[2].skip=0.1", or both: a number without a path is for all other gates. An error in words.
tl::expected<GateProbabilities, std::string> parseProbabilities(std::string_view text);

/// What one of `batch` samples takes in each branch of the graph; empty without gates.
std::vector<double> branchFlopsOfSample(const Flops& flops, std::int64_t batch);
/// FLOPs of a step in which branch i of the graph had sizes[i] of its samples, the first being the batch.
Count executedFlops(const Flops& flops, std::span<const std::int64_t> sizes);
/// The expected FLOPs of a step; the gate whose probability is missing as the error.
tl::expected<double, std::string> expectedFlops(const graph::Graph& graph, const Flops& flops,
                                                const GateProbabilities& probabilities);

}  // namespace tbem::estimate
