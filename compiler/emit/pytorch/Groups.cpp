#include "compiler/emit/pytorch/Groups.h"

#include "compiler/emit/python/Wrap.h"
#include "compiler/emit/pytorch/PyTorch.h"
#include "compiler/graph/pass/Mutation.h"
#include "compiler/support/NameCover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tbem::emit {

namespace {

/// A weight as `named_parameters` calls it: "stage.0.norm.weight".
std::string parameterName(const graph::Graph& graph, const graph::Graph::Weight& weight) {
  std::string name;
  for (const graph::PathPart& part : graph::pathParts(graph[graph[weight.value].storage].path)) {
    if (!part.name.empty()) name += (name.empty() ? "" : ".") + pythonName(part.name, pyTorchWords());
    if (part.turn) name += fmt::format(".{}", *part.turn);
  }
  return name;
}

std::string quotedList(const std::vector<std::string>& texts) {
  return texts.size() == 1 ? fmt::format("\"{}\"", texts.front()) : fmt::format("(\"{}\")", fmt::join(texts, "\", \""));
}

/// A condition of `name` that these names meet and the others do not: that it lies in modules, or ends in words.
std::string conditionOf(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  const auto [modules, alone] = coverOf(names, others);
  std::set<std::string> words;
  for (const std::string& name : names) words.insert(name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.')));
  const bool wordsDiffer = std::ranges::none_of(others, [&](const std::string& other) {
    return std::ranges::any_of(words, [&](const std::string& word) { return other.ends_with(word); });
  });
  if (wordsDiffer && words.size() < modules.size() + alone.size())
    return fmt::format("name.endswith({})", quotedList({words.begin(), words.end()}));
  std::string condition;
  if (!modules.empty()) condition = fmt::format("name.startswith({})", quotedList(modules));
  if (!alone.empty())
    condition += fmt::format("{}name {} {}", condition.empty() ? "" : " or ", alone.size() == 1 ? "==" : "in", quotedList(alone));
  return condition;
}

/// Of the weights that `isOne` takes, against all others that `isOther` takes.
template <class One, class Other>
std::string condition(const graph::Graph& graph, const One& isOne, const Other& isOther) {
  std::vector<std::string> names, others;
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (isOne(weight))
      names.push_back(parameterName(graph, weight));
    else if (isOther(weight))
      others.push_back(parameterName(graph, weight));
  }
  return conditionOf(names, others);
}

bool learns(const graph::Graph::Weight& weight) { return weight.gradient != graph::kNoTensor; }

}  // namespace

std::vector<std::uint32_t> movingOptimizers(const graph::Graph& graph) {
  std::set<std::uint32_t> groups;
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (learns(weight)) groups.insert(weight.optimizer);
  }
  if (groups.empty()) groups.insert(0);
  return {groups.begin(), groups.end()};
}

std::string freezeFunction(const graph::Row& row) {
  const graph::Graph& graph = row.graph();
  if (std::ranges::none_of(graph.weights, &graph::Graph::Weight::frozen)) return "";
  const bool all = std::ranges::all_of(graph.weights, &graph::Graph::Weight::frozen);
  std::string text = "\n\n" + wrapped(0, "def freeze(model: nn.Module) -> None:");
  if (all) return text + wrapped(4, "model.requires_grad_(False)");
  const std::string frozen = condition(
      graph, [](const auto& weight) { return weight.frozen; }, [](const auto&) { return true; });
  text += wrapped(4, "for name, parameter in model.named_parameters():");
  text += wrapped(8, fmt::format("if {}:", frozen));
  return text + wrapped(12, "parameter.requires_grad_(False)");
}

GroupsText groupsText(const graph::Row& row, const std::vector<std::uint32_t>& groups,
                      const std::vector<OptimizerText>& optimizers) {
  const graph::Graph& graph = row.graph();
  GroupsText out;
  out.isList = std::ranges::any_of(optimizers, [&](const OptimizerText& one) { return one.type != optimizers[0].type; });
  std::string& text = out.function;
  const char* const result = out.isList ? "list[torch.optim.Optimizer]" : "torch.optim.Optimizer";
  text = "\n\n" + wrapped(0, fmt::format("def make_optimizer{}(model: nn.Module) -> {}:", out.isList ? "s" : "", result));
  std::vector<std::string> dictionaries;
  for (const OptimizerText& optimizer : optimizers) {
    std::string settings = "\"params\": []";
    for (std::size_t k = 0; k < optimizer.keywords.size(); ++k)
      settings += fmt::format(", \"{}\": {}", optimizer.keywords[k], optimizer.values[k]);
    dictionaries.push_back("{" + settings + "}");
  }
  text += wrapped(4, fmt::format("groups = [{}]", fmt::join(dictionaries, ", ")));
  text += wrapped(4, "for name, parameter in model.named_parameters():");
  for (std::size_t g = groups.size(); g-- > 1;) {
    const bool isFirst = g + 1 == groups.size();
    const std::string own = condition(
        graph, [&](const auto& weight) { return learns(weight) && weight.optimizer == groups[g]; }, learns);
    text += wrapped(8, fmt::format("{} {}:", isFirst ? "if" : "elif", own));
    text += wrapped(12, fmt::format("groups[{}][\"params\"].append(parameter)", g));
  }
  text += wrapped(8, "else:");
  text += wrapped(12, "groups[0][\"params\"].append(parameter)");
  if (!out.isList) {
    text += wrapped(4, fmt::format("return {}(groups)", optimizers[0].type));
    out.made = "optimizer = make_optimizer(model)";
    return out;
  }
  std::vector<std::string> made;
  for (std::size_t g = 0; g < groups.size(); ++g) made.push_back(fmt::format("{}([groups[{}]])", optimizers[g].type, g));
  text += wrapped(4, fmt::format("return [{}]", fmt::join(made, ", ")));
  out.made = "optimizers = make_optimizers(model)";
  return out;
}

}  // namespace tbem::emit
