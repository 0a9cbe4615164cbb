#include "compiler/emit/text/ForwardText.h"

#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tbem::emit {

using graph::TensorId;

namespace {

constexpr std::size_t kLong = 48;  // of an expression in another

/// The function of which the value is a call with these arguments; empty: it is none.
std::string calleeOf(const std::string& parameters, const std::string& value) {
  const std::string arguments = "(" + parameters + ")";
  const std::string callee = value.ends_with(arguments) ? value.substr(0, value.size() - arguments.size()) : "";
  const bool isName = !callee.empty() && std::all_of(callee.begin(), callee.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  return isName ? callee : "";
}

}  // namespace

ForwardText::ForwardText(const graph::Graph& graph, const Classes& all, std::size_t at, const ClassWords& words,
                         const std::vector<char>& takes)
    : graph(graph),
      all(all),
      type(all.classes[at]),
      module(all.modules[type.objects.front()]),
      words(words),
      takes(takes),
      isPassing(takes[at] != 0),
      steps{0, module.steps.size(), module.outputs},
      indent(8),
      names(graph, module, words, steps) {}

ForwardText::ForwardText(const ForwardText& outer, const FunctionSteps& steps)
    : graph(outer.graph),
      all(outer.all),
      type(outer.type),
      module(outer.module),
      words(outer.words),
      takes(outer.takes),
      isPassing(outer.isPassing),
      steps(steps),
      indent(outer.indent + 4),
      names(graph, module, words, steps, &outer.names) {}

std::string ForwardText::signature() {
  const std::string tensorType = words.tensor.empty() ? "" : ": " + words.tensor;
  const std::size_t count = module.node->inputs.size();
  std::string parameters, targets;
  for (std::size_t k = 0; k < count; ++k) {
    const std::string name = names.nameInput(k);
    parameters += fmt::format(", {}{}", name, tensorType);
    targets += (targets.empty() ? "" : ", ") + name;
  }
  for (const std::string& path : module.node->borrowed) parameters += fmt::format(", {}: {}", names.nameModule(path), words.base);
  const bool isOne = isNetwork() && words.isOneInput && count > 1;
  const std::string inputs = isOne ? names.fresh("inputs") : "";
  const std::string more = isPassing ? fmt::format(", {}=None", words.passed) : "";
  std::string text = fmt::format("def {}(self{}{}){}:", words.forward, isOne ? ", " + inputs : parameters, more, resultType());
  text = wrapped(4, text);
  return isOne ? text + wrapped(8, fmt::format("{} = {}", targets, inputs)) : text;
}

std::string ForwardText::body() {
  const Lines written = lines();
  if (written.value.empty()) return written.statements.empty() ? line("pass") : written.statements;
  return written.statements + line("return " + written.value);
}

std::string ForwardText::line(const std::string& text) const { return wrapped(indent, text); }

ForwardText::Lines ForwardText::lines() {
  Lines written;
  std::string& text = written.statements;
  for (place = steps.begin; place < steps.end; place = nextStep(module, place)) {
    const Step& step = module.steps[place];
    if (step.isHeld) continue;
    if (step.isLoop) {
      if (!step.carried.empty()) text += loop(step);
      continue;
    }
    if (step.arms) {
      const std::string definitions = gate(step);
      text += text.empty() ? definitions.substr(definitions.find_first_not_of('\n')) : definitions;
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
      text += withoutRows(step, 0);                                  // by the names that the results have now
    } else if (!step.attribute.empty() || !step.borrowed.empty()) {  // for what it does beside
      text += line(value.first);
    }
  }
  for (const TensorId output : steps.outputs) written.value += (written.value.empty() ? "" : ", ") + operand(output).first;
  return written;
}

std::string ForwardText::resultType() const {
  if (words.tensor.empty()) return "";
  const std::vector<std::string> results(steps.outputs.size(), words.tensor);
  const std::string result = results.empty()       ? "None"  // of a turn whose results nothing reads
                             : results.size() == 1 ? words.tensor
                                                   : fmt::format("tuple[{}]", fmt::join(results, ", "));
  return " -> " + result;
}

ForwardText::Operand ForwardText::operand(TensorId tensor) {
  if (!pending || pending->first != tensor) return {names.of(tensor), Binding::Atom};
  Operand value = std::move(pending->second);
  pending.reset();
  return value;
}

ForwardText::Operand ForwardText::expression(const Step& step) {
  const auto byName = [this](TensorId tensor) { return operand(tensor); };
  const bool isCalled = step.code.call.callee.empty() && !step.code.call.arguments.empty();
  if (step.attribute.empty() && (step.borrowed.empty() || isCalled)) {
    Code code = step.code;
    if (!step.borrowed.empty()) code.call.callee = names.ofModule(step.borrowed);
    return {expressionText(code, byName, type.holes), code.text.empty() ? Binding::Atom : code.binding};
  }
  if (step.code.module) {
    Code call = step.code;
    call.call.callee = "self." + step.attribute;
    if (isPassing && words.takes(*step.code.module)) call.call.arguments.push_back({words.passed, words.passed, ""});
    return {expressionText(call, byName, type.holes), Binding::Atom};
  }
  std::string arguments;
  for (const TensorId tensor : step.operands) arguments += (arguments.empty() ? "" : ", ") + operand(tensor).first;
  const std::string callee = step.borrowed.empty() ? "self." + step.attribute : names.ofModule(step.borrowed);
  return {fmt::format("{}({}{}{})", callee, arguments, lentTo(step), passedTo(step)), Binding::Atom};
}

/// The argument that goes to the module as well, where an object of the class has one there that takes it.
std::string ForwardText::passedTo(const Step& step) const {
  if (!isPassing) return "";
  const auto at = static_cast<std::size_t>(&step - module.steps.data());
  const bool isTaken = std::any_of(type.objects.begin(), type.objects.end(), [&](std::size_t object) {
    const std::vector<std::size_t>& inside = all.modules[object].steps[at].modules;
    return inside.empty() ||
           std::any_of(inside.begin(), inside.end(), [&](std::size_t one) { return takes[all.modules[one].type] != 0; });
  });
  return isTaken ? fmt::format(", {}={}", words.passed, words.passed) : "";
}

/// The modules that go to the module as well.
std::string ForwardText::lentTo(const Step& step) const {
  std::string text;
  for (const std::string& path : step.lent) text += (step.operands.empty() && text.empty() ? "" : ", ") + names.ofModule(path);
  return text;
}

bool ForwardText::isWrittenInNext(const Step& step, const Operand& value) const {
  const std::size_t following = nextStep(module, place);
  if (step.results.size() != 1 || value.first.size() > kLong || !names.isReadOnceAt(step.results.front(), following))
    return false;
  if (following == steps.end) return true;
  const Step& next = module.steps[following];
  if (!next.isGate) return next.attribute.empty() && !next.isLoop;
  const std::vector<Mark> marks = marksOf(next.code.call.arguments.front().text);  // of its condition
  return marks.size() == 1 && marks.front().tensor == step.results.front();
}

std::string ForwardText::assignment(const Step& step, const std::string& value) {
  std::optional<std::string> name;
  if (step.takesOver.empty()) {
    name = names.freed(step, place);
    if (!name && !freeName.empty()) name = freeName;
  }
  freeName.clear();
  std::string targets;
  for (std::size_t r = 0; r < step.results.size(); ++r) {
    const bool isRead = names.isRead(step.results[r]);
    const bool isTaken = isRead && !step.takesOver.empty();
    const std::string target = !isRead   ? "_"
                               : isTaken ? names.takenOver(step.takesOver[r], place)
                               : name    ? *name
                                         : names.resultName(step.results[r]);
    if (isRead) name.reset();
    names.give(step.results[r], target);
    targets += (r == 0 ? "" : ", ") + target;
  }
  if (targets == value) return "";  // it is given on under the name that it has
  return line(targets + " = " + value);
}

std::string ForwardText::loop(const Step& step) {
  std::string text, arguments, targets;
  std::vector<std::string> carried(step.results.size());  // the name of each result
  for (std::size_t p = 0; p < step.operands.size(); ++p) {
    std::string name = operand(step.operands[p]).first;
    if (step.carried[p] >= 0) {
      std::string& own = carried[static_cast<std::size_t>(step.carried[p])];
      if (own.empty() && !names.endsAt(step.operands[p], place)) {  // what goes in is read behind the loop, too
        own = names.fresh("y");
        text += line(fmt::format("{} = {}", own, name));
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
  text += line(fmt::format("for {} in self.{}:", turn, step.attribute));
  text += wrapped(indent + 4, fmt::format("{} = {}({}{}{})", targets, turn, arguments, lentTo(step), passedTo(step)));
  return text + withoutRows(step, 4);
}

/// Behind a step of the network that may leave no rows.
std::string ForwardText::withoutRows(const Step& step, std::size_t deeper) const {
  if (!isNetwork()) return "";
  std::string text;
  for (const TensorId result : step.results) {
    const auto given = words.givenWithoutRows.find(result);
    if (given == words.givenWithoutRows.end() || !names.isRead(result)) continue;
    text += wrapped(indent + deeper, fmt::format("if len({}) == 0:", names.of(result)));
    text += wrapped(indent + deeper + 4, "return " + names.of(given->second));
  }
  return text;
}

// ---- Gates whose arms are functions -----------------------------------------------------------------------------------

std::string ForwardText::gate(const Step& step) {
  std::string definitions;
  Code call = step.code;
  call.call.callee = "self." + step.attribute;
  std::vector<Argument> arguments = {call.call.arguments.front()};
  for (std::size_t arm = 0; arm < 2; ++arm) arguments.push_back({"", armText(*step.arms, arm, definitions), ""});
  for (const TensorId tensor : step.arms->operands) arguments.push_back({"", Scribe::operand(tensor), ""});
  arguments.insert(arguments.end(), call.call.arguments.begin() + 1, call.call.arguments.end());
  call.call.arguments = std::move(arguments);
  const std::string value = expressionText(
      call, [this](TensorId tensor) { return operand(tensor); }, type.holes);
  if (!definitions.empty()) definitions += "\n";
  return definitions + assignment(step, value);
}

std::string ForwardText::armText(const StepArms& arms, std::size_t arm, std::string& definitions) {
  const std::size_t begin = place + 1 + (arm == 0 ? 0 : arms.counts[0]);
  ForwardText function(*this, {begin, begin + arms.counts[arm], {arms.outputs[arm]}});
  std::string parameters, typed;
  for (const TensorId tensor : arms.operands) {
    const std::string name = names.of(tensor);
    function.names.give(tensor, name);
    parameters += (parameters.empty() ? "" : ", ") + name;
    typed += fmt::format("{}{}: {}", typed.empty() ? "" : ", ", name, words.tensor);
  }
  const Lines written = function.lines();
  if (written.statements.empty()) {
    if (std::string callee = calleeOf(parameters, written.value); !callee.empty()) return callee;
    if (arms.operands.size() == 1 && written.value.size() <= kLong)  // commas in front of the colon are not Black's
      return fmt::format("lambda {}: {}", parameters, written.value);
  }
  std::string name = names.fresh(arm == 0 ? "computed" : "left");
  definitions += "\n" + line(fmt::format("def {}({}){}:", name, typed, function.resultType()));
  definitions += written.statements + function.line("return " + written.value);
  return name;
}

}  // namespace tbem::emit
