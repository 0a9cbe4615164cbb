#include "compiler/emit/python/ClassText.h"

#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace tbem::emit {

using graph::TensorId;
using Operand = std::pair<std::string, Binding>;

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

/// Names for the tensors of a class's forward pass. A result takes over the name of an operand that is not read again.
class TensorNames {
public:
  TensorNames(const graph::Graph& graph, const Module& module, const ClassWords& words)
      : graph(graph), module(module), words(words) {
    for (std::size_t at = 0; at < module.steps.size(); ++at) {
      for (const TensorId operand : operandsOf(module.steps[at])) read(operand, at);
    }
    for (const TensorId output : module.outputs) read(output, module.steps.size());
  }

  std::string nameInput(std::size_t k) { return names[module.node->inputs[k]] = fresh(inputName(k)); }
  void give(TensorId tensor, std::string name) { names[tensor] = std::move(name); }
  std::string fresh(const std::string& wanted) { return freshName(taken, wanted); }

  /// Of a tensor that has a name, or of a weight.
  std::string of(TensorId tensor) const {
    if (const auto known = names.find(tensor); known != names.end()) return known->second;
    const std::string_view path = weightPath(graph, tensor);
    const std::string& own = module.node->call->path;
    return weightText(tensor, path.substr(own.empty() ? 0 : own.size() + 1));
  }
  bool isRead(TensorId tensor) const { return uses.contains(tensor); }
  bool isReadOnceAt(TensorId tensor, std::size_t place) const {
    return uses.contains(tensor) && uses.at(tensor) == 1 && lastUse.at(tensor) == place;
  }
  /// Whether a name of its own is free behind the step.
  bool endsAt(TensorId tensor, std::size_t place) const { return names.contains(tensor) && lastUse.at(tensor) == place; }
  /// The name of the first operand that is read at the step for the last time; it has it no more.
  std::optional<std::string> freed(const Step& step, std::size_t place) {
    for (const TensorId tensor : operandsOf(step)) {
      if (!endsAt(tensor, place)) continue;
      std::string name = std::move(names.extract(tensor).mapped());
      const bool isSpecial = name.size() > 1 && isInput(tensor);  // `image` stays the image
      return isSpecial ? fresh("x") : name;
    }
    return std::nullopt;
  }
  /// A name for a result that takes over none.
  std::string resultName(TensorId result) {
    const auto alias = module.aliases.find(result);
    const std::string& name = graph[alias == module.aliases.end() ? result : alias->second].name;
    const bool isWord =
        !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return fresh(isWord ? variableName(name, words.taken) : "y");
  }

private:
  bool isInput(TensorId tensor) const {
    const std::vector<TensorId>& inputs = module.node->inputs;
    return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
  }
  void read(TensorId tensor, std::size_t place) {
    ++uses[tensor];
    lastUse[tensor] = place;
  }

  std::string inputName(std::size_t k) const {
    const ModuleNode& node = *module.node;
    for (std::size_t t = 0; t < node.call->tensors.size(); ++t) {
      const std::vector<TensorId> parts = tensorsOf(node.call->tensors[t]);
      if (std::find(parts.begin(), parts.end(), node.inputs[k]) != parts.end())
        return variableName(node.call->decl->tensors[t].name.text, words.taken);
    }
    constexpr std::array<const char*, 3> kNames = {"x", "y", "z"};  // of a loop's turn
    return k < kNames.size() ? kNames[k] : fmt::format("x{}", k);
  }

  /// "words.weight" as attributes of Python.
  std::string weightText(TensorId tensor, std::string_view path) const {
    std::string holder = "self";
    for (std::size_t end = 0; (end = path.find('.')) != std::string_view::npos; path.remove_prefix(end + 1)) {
      const std::string_view word = path.substr(0, end);
      const std::size_t bracket = std::min(word.find('['), word.size());
      holder += "." + pythonName(word.substr(0, bracket), words.taken) + std::string(word.substr(bracket));
    }
    return words.weight(tensor, holder, path);
  }

  const graph::Graph& graph;
  const Module& module;
  const ClassWords& words;
  std::map<TensorId, std::string> names;
  std::map<TensorId, std::size_t> uses, lastUse;
  std::set<std::string> taken;
};

/// The forward pass of a class, a line a step. A step whose only result the next expression reads, and nothing else, is written
/// in that.
class ForwardText {
public:
  ForwardText(const graph::Graph& graph, const Classes& all, std::size_t at, const ClassWords& words,
              const std::vector<char>& takes)
      : all(all),
        type(all.classes[at]),
        module(all.modules[type.objects.front()]),
        words(words),
        takes(takes),
        isPassing(takes[at] != 0),
        names(graph, module, words) {}

  /// The first line, and the one that names the inputs of a network that come as one.
  std::string signature(bool isNetwork) {
    const std::string tensorType = words.tensor.empty() ? "" : ": " + words.tensor;
    const std::size_t count = module.node->inputs.size();
    std::string parameters, targets;
    for (std::size_t k = 0; k < count; ++k) {
      const std::string name = names.nameInput(k);
      parameters += fmt::format(", {}{}", name, tensorType);
      targets += (targets.empty() ? "" : ", ") + name;
    }
    const bool isOne = isNetwork && words.isOneInput && count > 1;
    const std::string inputs = isOne ? names.fresh("inputs") : "";
    const std::string more = isPassing ? fmt::format(", {}=None", words.passed) : "";
    std::string text = fmt::format("def {}(self{}{}){}:", words.forward, isOne ? ", " + inputs : parameters, more, resultType());
    text = wrapped(4, text);
    return isOne ? text + wrapped(8, fmt::format("{} = {}", targets, inputs)) : text;
  }

  std::string body() {
    std::string text;
    for (place = 0; place < module.steps.size(); ++place) {
      const Step& step = module.steps[place];
      if (step.isLoop) {
        if (!step.carried.empty()) text += loop(step);
        continue;
      }
      const Operand value = expression(step);  // before a result takes the name of an operand
      if (isWrittenInNext(step, value)) {
        if (const std::optional<std::string> name = names.freed(step, place)) freeName = *name;
        pending = {step.results.front(), value};
        continue;
      }
      const bool isRead = std::any_of(step.results.begin(), step.results.end(), [&](TensorId one) { return names.isRead(one); });
      if (isRead) {
        text += assignment(step, value.first);
      } else if (!step.attribute.empty()) {  // for what it does beside
        text += wrapped(8, value.first);
      }
    }
    std::string values;
    for (const TensorId output : module.outputs) values += (values.empty() ? "" : ", ") + operand(output).first;
    if (module.outputs.empty()) return text.empty() ? wrapped(8, "pass") : text;
    return text + wrapped(8, "return " + values);
  }

private:
  std::string resultType() const {
    if (words.tensor.empty()) return "";
    const std::vector<std::string> results(module.outputs.size(), words.tensor);
    const std::string result = results.empty()       ? "None"  // of a turn whose results nothing reads
                               : results.size() == 1 ? words.tensor
                                                     : fmt::format("tuple[{}]", fmt::join(results, ", "));
    return " -> " + result;
  }

  Operand operand(TensorId tensor) {
    if (!pending || pending->first != tensor) return {names.of(tensor), Binding::Atom};
    Operand value = std::move(pending->second);
    pending.reset();
    return value;
  }

  Operand expression(const Step& step) {
    const auto byName = [this](TensorId tensor) { return operand(tensor); };
    if (step.attribute.empty())
      return {expressionText(step.code, byName, type.holes), step.code.text.empty() ? Binding::Atom : step.code.binding};
    if (step.code.module) {
      Code call = step.code;
      call.call.callee = "self." + step.attribute;
      if (isPassing && words.takes(*step.code.module)) call.call.arguments.push_back({words.passed, words.passed, ""});
      return {expressionText(call, byName, type.holes), Binding::Atom};
    }
    std::string arguments;
    for (const TensorId tensor : step.operands) arguments += (arguments.empty() ? "" : ", ") + operand(tensor).first;
    return {fmt::format("self.{}({}{})", step.attribute, arguments, passedTo(step)), Binding::Atom};
  }

  /// The argument that goes to the module as well, where an object of the class has one there that takes it.
  std::string passedTo(const Step& step) const {
    if (!isPassing) return "";
    const auto at = static_cast<std::size_t>(&step - module.steps.data());
    const bool isTaken = std::any_of(type.objects.begin(), type.objects.end(), [&](std::size_t object) {
      const std::vector<std::size_t>& inside = all.modules[object].steps[at].modules;
      return inside.empty() ||
             std::any_of(inside.begin(), inside.end(), [&](std::size_t one) { return takes[all.modules[one].type] != 0; });
    });
    return isTaken ? fmt::format(", {}={}", words.passed, words.passed) : "";
  }

  bool isWrittenInNext(const Step& step, const Operand& value) const {
    constexpr std::size_t kLong = 48;
    if (step.results.size() != 1 || value.first.size() > kLong || !names.isReadOnceAt(step.results.front(), place + 1))
      return false;
    if (place + 1 == module.steps.size()) return true;
    const Step& next = module.steps[place + 1];
    return next.attribute.empty() && !next.isLoop;
  }

  std::string assignment(const Step& step, const std::string& value) {
    std::optional<std::string> name = names.freed(step, place);
    if (!name && !freeName.empty()) name = freeName;
    freeName.clear();
    std::string targets;
    for (std::size_t r = 0; r < step.results.size(); ++r) {
      const bool isRead = names.isRead(step.results[r]);
      const std::string target = !isRead ? "_" : name ? *name : names.resultName(step.results[r]);
      if (isRead) name.reset();
      names.give(step.results[r], target);
      targets += (r == 0 ? "" : ", ") + target;
    }
    if (targets == value) return "";  // it is given on under the name that it has
    return wrapped(8, targets + " = " + value);
  }

  std::string loop(const Step& step) {
    std::string text, arguments, targets;
    std::vector<std::string> carried(step.results.size());  // the name of each result
    for (std::size_t p = 0; p < step.operands.size(); ++p) {
      std::string name = operand(step.operands[p]).first;
      if (step.carried[p] >= 0) {
        std::string& own = carried[static_cast<std::size_t>(step.carried[p])];
        if (own.empty() && !names.endsAt(step.operands[p], place)) {  // what goes in is read behind the loop, too
          own = names.fresh("y");
          text += wrapped(8, fmt::format("{} = {}", own, name));
        } else if (own.empty()) {
          own = name;
        }
        name = own;
      }
      arguments += (arguments.empty() ? "" : ", ") + name;
    }
    for (std::size_t r = 0; r < step.results.size(); ++r) {
      names.give(step.results[r], carried[r]);
      targets += (r == 0 ? "" : ", ") + carried[r];
    }
    const std::string turn = names.fresh(step.attribute);
    text += wrapped(8, fmt::format("for {} in self.{}:", turn, step.attribute));
    return text + wrapped(12, fmt::format("{} = {}({}{})", targets, turn, arguments, passedTo(step)));
  }

  const Classes& all;
  const Class& type;
  const Module& module;
  const ClassWords& words;
  const std::vector<char>& takes;  ///< by class
  const bool isPassing;
  TensorNames names;
  std::size_t place = 0;  ///< of the step at hand
  std::string freeName;   ///< of an operand of the step that is written in the next
  std::optional<std::pair<TensorId, Operand>> pending;
};

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

std::string expressionText(const Code& code, const std::function<Operand(TensorId)>& operand,
                           const std::vector<std::string>& holes) {
  const auto filling = [&](const Mark& mark) {
    if (!mark.tensor) return holes[mark.hole];
    const auto [name, binding] = operand(*mark.tensor);
    return binding < mark.least ? "(" + name + ")" : name;
  };
  return code.text.empty() ? filled(code.call, filling) : filled(code.text, filling);
}

std::string classText(const graph::Graph& graph, const Classes& all, const ClassWords& words) {
  std::string text;
  const std::vector<char> takes = takesPassed(all, words);
  for (std::size_t at = 0; at < all.classes.size(); ++at) {
    const Class& type = all.classes[at];
    if (type.isIdentity) continue;
    const bool isNetwork = type.objects.front() + 1 == all.modules.size();
    ForwardText forward(graph, all, at, words, takes);
    text += fmt::format("\n\nclass {}({}):\n", type.name, isNetwork ? words.network : words.base) + initText(type, words);
    text += forward.signature(isNetwork);  // names the inputs
    text += forward.body();
  }
  return text;
}

}  // namespace tbem::emit
