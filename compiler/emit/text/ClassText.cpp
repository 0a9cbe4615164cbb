#include "compiler/emit/text/ClassText.h"

#include "compiler/emit/python/Wrap.h"
#include "compiler/emit/text/ForwardText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tbem::emit {

namespace {

/// The type of a parameter, from the values that it has.
std::string typeOf(const std::vector<std::string>& values, const std::string& module) {
  std::set<std::string> types;
  for (const std::string& value : values) {
    const bool isTuple = value.starts_with("(");
    const bool isNumber = std::isdigit(static_cast<unsigned char>(value.front())) != 0 || value.front() == '-';
    if (value == "True" || value == "False") {
      types.insert("bool");
    } else if (isNumber) {
      types.insert(value.find_first_of(".en") == std::string::npos ? "int" : "float");
    } else if (isTuple) {
      types.insert("tuple[int, ...]");
    } else if (value.starts_with("\"")) {
      types.insert("str");
    } else {
      const bool isNumbers = value.size() > 1 && std::isdigit(static_cast<unsigned char>(value[1])) != 0;
      types.insert(!value.starts_with("[") ? module : isNumbers ? "list[int]" : fmt::format("list[{}]", module));
    }
  }
  if (types.contains("float")) types.erase("int");
  return fmt::format("{}", fmt::join(types, " | "));
}

/// By class: whether its forward pass takes the argument that is handed down.
std::vector<char> takesPassed(const Classes& all, const ClassWords& words) {
  std::vector<char> takes(all.classes.size(), 0);
  if (words.passed.empty()) return takes;
  for (std::size_t at = 0; at < all.classes.size(); ++at) {
    for (const std::size_t object : all.classes[at].objects) {
      for (const Step& step : all.modules[object].steps) {
        const bool isTaken = (step.code.module && words.takes(*step.code.module)) ||
                             std::any_of(step.modules.begin(), step.modules.end(),
                                         [&](std::size_t inside) { return takes[all.modules[inside].type] != 0; });
        if (isTaken) takes[at] = 1;
      }
    }
  }
  return takes;
}

std::string initText(const Class& type, const ClassWords& words) {
  if (type.attributes.empty() && type.kept.empty()) return "";
  std::string parameters = "self";
  for (const Parameter& parameter : type.parameters)
    parameters += fmt::format(", {}: {}", parameter.name, typeOf(parameter.values, words.base));
  std::string text = wrapped(4, fmt::format("def __init__({}) -> None:", parameters)) + "        super().__init__()\n";
  for (const auto& [attribute, name] : type.kept) text += wrapped(8, fmt::format("self.{} = {}", attribute, name));
  for (const auto& [name, made] : type.attributes) text += wrapped(8, fmt::format("self.{} = {}", name, made));
  return text + "\n";
}

}  // namespace

std::string classText(const graph::Graph& graph, const Classes& all, const ClassWords& words) {
  std::string text;
  const std::vector<char> takes = takesPassed(all, words);
  for (std::size_t at = 0; at < all.classes.size(); ++at) {
    const Class& type = all.classes[at];
    if (type.isIdentity) continue;
    ForwardText forward(graph, all, at, words, takes);
    text +=
        fmt::format("\n\nclass {}({}):\n", type.name, forward.isNetwork() ? words.network : words.base) + initText(type, words);
    text += forward.signature();  // names the inputs
    text += forward.body();
  }
  return text;
}

}  // namespace tbem::emit
