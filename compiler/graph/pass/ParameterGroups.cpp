#include "compiler/graph/pass/ParameterGroups.h"

#include "compiler/graph/pass/Mutation.h"

namespace tbem::graph {

namespace {

/// Of the parts of a pattern between its stars, of which it has one at least, the first begins the text, the last ends it, and
/// the others lie between, in order.
bool fitsPattern(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  while ((star = pattern.find('*')) != std::string_view::npos) {
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
  }
  return text.ends_with(pattern);
}

}  // namespace

bool WeightPlace::names(std::string_view path) const {
  if (isPattern && text.find('*') != std::string::npos) return fitsPattern(text, path);
  return !text.empty() && fits(pathParts(text), pathParts(path), "") != Fit::None;
}

WeightChoice chooseWeights(const Graph& graph, const ParameterGroups& groups) {
  WeightChoice choice;
  choice.of.assign(graph.weights.size(), 0);
  const auto pathOf = [&](std::size_t weight) -> const std::string& {
    return graph[graph[graph.weights[weight].value].storage].path;
  };
  /// Each weight that the place names.
  const auto forEach = [&](const WeightPlace& place, const auto& take) {
    bool met = false;
    for (std::size_t weight = 0; weight < graph.weights.size(); ++weight) {
      if (!place.names(pathOf(weight))) continue;
      met = true;
      take(weight);
    }
    if (!met && choice.unmet == nullptr) choice.unmet = &place;
  };
  for (std::size_t group = 0; group < groups.groups.size(); ++group) {
    const auto number = static_cast<std::uint32_t>(group + 1);
    for (const WeightPlace& place : groups.groups[group].places) {
      forEach(place, [&](std::size_t weight) {
        std::uint32_t& of = choice.of[weight];
        if (of != 0 && of != number && choice.again == nullptr) {
          choice.again = &place;
          choice.weight = pathOf(weight);
        }
        of = number;
      });
    }
  }
  std::vector<bool> stays(choice.of.size(), !groups.only.empty());
  for (const WeightPlace& place : groups.only) forEach(place, [&](std::size_t weight) { stays[weight] = false; });
  for (const WeightPlace& place : groups.frozen) forEach(place, [&](std::size_t weight) { stays[weight] = true; });
  for (std::size_t weight = 0; weight < stays.size(); ++weight) {
    std::uint32_t& of = choice.of[weight];
    if (stays[weight] || (of != 0 && groups.groups[of - 1].elsewhere)) of = kStays;
  }
  return choice;
}

}  // namespace tbem::graph
