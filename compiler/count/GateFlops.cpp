#include "compiler/count/GateFlops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tbem::estimate {

tl::expected<GateProbabilities, std::string> parseProbabilities(std::string_view text) {
  GateProbabilities probabilities;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.rfind('=');
    const std::string_view number = equals == std::string_view::npos ? one : one.substr(equals + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size() || !(value >= 0 && value <= 1))
      return tl::unexpected("`" + std::string(one) + "` is no probability: a number from 0 to 1, or PATH=NUMBER");
    if (equals == std::string_view::npos) {
      probabilities.others = value;
    } else {
      probabilities.of[std::string(one.substr(0, equals))] = value;
    }
  }
  return probabilities;
}

std::vector<double> branchFlopsOfSample(const Flops& flops, std::int64_t batch) {
  std::vector<double> ofSample;
  if (!flops.gated) return ofSample;
  for (std::size_t b = 0; b < flops.byBranch.size(); ++b)
    ofSample.push_back(toDouble(flops.byBranch[b]) / static_cast<double>(b == 0 ? batch : flops.samples[b]));
  return ofSample;
}

Count executedFlops(const Flops& flops, std::span<const std::int64_t> sizes) {
  Count sum = 0;
  for (std::size_t i = 0; i < flops.byBranch.size() && i < sizes.size(); ++i)
    sum += flops.byBranch[i] * static_cast<Count>(sizes[i]) / static_cast<Count>(i == 0 ? sizes[0] : flops.samples[i]);
  return sum;
}

tl::expected<double, std::string> expectedFlops(const graph::Graph& graph, const Flops& flops,
                                                const GateProbabilities& probabilities) {
  const graph::Branches branches = graph::branchesOf(graph);
  std::vector<std::string> paths;
  for (const graph::Branch& branch : branches.list) {
    if (branch.gate != graph::kNoOp && branch.condition) paths.push_back(graph[branch.gate].path);
  }
  for (const auto& probability : probabilities.of) {
    if (std::ranges::find(paths, probability.first) == paths.end()) {
      return tl::unexpected(fmt::format("there is no gate `{}`; there are `{}`", probability.first, fmt::join(paths, "`, `")));
    }
  }
  std::vector<double> reached(branches.list.size(), 1);
  double sum = 0;
  for (std::size_t i = 0; i < branches.list.size(); ++i) {
    const graph::Branch& branch = branches.list[i];
    if (branch.gate != graph::kNoOp) {
      const auto given = probabilities.of.find(graph[branch.gate].path);
      if (given == probabilities.of.end() && !probabilities.others)
        return tl::unexpected("no probability for the gate `" + graph[branch.gate].path + "`");
      const double p = given != probabilities.of.end() ? given->second : *probabilities.others;
      reached[i] = reached[branch.parent] * (branch.condition ? p : 1 - p);
    }
    sum += reached[i] * toDouble(flops.byBranch[i]);
  }
  return sum;
}

}  // namespace tbem::estimate
