#include "compiler/emit/text/TensorNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tbem::emit {

using graph::TensorId;

std::size_t nextStep(const Module& module, std::size_t place) {
  const std::optional<StepArms>& arms = module.steps[place].arms;
  return place + 1 + (arms ? arms->all() : 0);
}

TensorNames::TensorNames(const graph::Graph& graph, const Module& module, const ClassWords& words, const FunctionSteps& steps,
                         const TensorNames* outer)
    : graph(graph), module(module), words(words), outer(outer) {
  if (outer != nullptr) taken = outer->taken;
  for (std::size_t at = steps.begin; at < steps.end; at = nextStep(module, at)) {
    for (const TensorId operand : operandsOf(module.steps[at])) read(operand, at);
  }
  for (const TensorId output : steps.outputs) read(output, steps.end);
}

std::string TensorNames::nameInput(std::size_t k) { return names[module.node->inputs[k]] = fresh(inputName(k)); }

std::string TensorNames::nameModule(const std::string& path) {
  return modules[path] = fresh(variableName(lastName(path).first, words.taken));
}

std::string TensorNames::of(TensorId tensor) const {
  if (const auto known = names.find(tensor); known != names.end()) return known->second;
  if (outer != nullptr) return outer->of(tensor);
  const std::string_view path = weightPath(graph, tensor);
  const std::string& own = module.node->call->path;
  return weightText(tensor, path.substr(own.empty() ? 0 : own.size() + 1));
}

std::string TensorNames::ofModule(const std::string& path) const {
  if (const auto known = modules.find(path); known != modules.end()) return known->second;
  return outer != nullptr ? outer->ofModule(path) : "self." + pythonName(lastName(path).first, words.taken);
}

std::optional<std::string> TensorNames::freed(const Step& step, std::size_t place) {
  for (const TensorId tensor : operandsOf(step)) {
    if (!endsAt(tensor, place) || words.isNamed(tensor)) continue;
    std::string name = std::move(names.extract(tensor).mapped());
    const bool isSpecial = name.size() > 1 && isInput(tensor);  // `image` stays the image
    return isSpecial ? fresh("x") : name;
  }
  return std::nullopt;
}

std::string TensorNames::takenOver(TensorId operand, std::size_t place) {
  return endsAt(operand, place) ? std::move(names.extract(operand).mapped()) : resultName(operand);
}

std::string TensorNames::resultName(TensorId result) {
  const auto alias = module.aliases.find(result);
  const std::string& name = graph[alias == module.aliases.end() ? result : alias->second].name;
  const bool isWord =
      !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return fresh(isWord ? variableName(name, words.taken) : "y");
}

bool TensorNames::isInput(TensorId tensor) const {
  const std::vector<TensorId>& inputs = module.node->inputs;
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

void TensorNames::read(TensorId tensor, std::size_t place) {
  ++uses[tensor];
  lastUse[tensor] = place;
}

std::string TensorNames::inputName(std::size_t k) const {
  const ModuleNode& node = *module.node;
  for (std::size_t t = 0; t < node.call->tensors.size(); ++t) {
    const std::vector<TensorId> parts = tensorsOf(node.call->tensors[t]);
    if (std::find(parts.begin(), parts.end(), node.inputs[k]) != parts.end())
      return variableName(node.call->decl->tensors[t].name.text, words.taken);
  }
  if (words.isNamed(node.inputs[k])) return graph[node.inputs[k]].name;
  constexpr std::array<const char*, 3> kNames = {"x", "y", "z"};  // of a loop's turn
  const auto end = node.inputs.begin() + static_cast<std::ptrdiff_t>(k);
  const auto place = static_cast<std::size_t>(std::count_if(node.inputs.begin(), end, std::not_fn(words.isNamed)));
  return place < kNames.size() ? kNames[place] : fmt::format("x{}", place);
}

/// "words.weight" as attributes of Python.
std::string TensorNames::weightText(TensorId tensor, std::string_view path) const {
  std::string holder = "self";
  for (std::size_t end = 0; (end = path.find('.')) != std::string_view::npos; path.remove_prefix(end + 1)) {
    const std::string_view word = path.substr(0, end);
    const std::size_t bracket = std::min(word.find('['), word.size());
    holder += "." + pythonName(word.substr(0, bracket), words.taken) + std::string(word.substr(bracket));
  }
  return words.weight(tensor, holder, path);
}

}  // namespace tbem::emit
