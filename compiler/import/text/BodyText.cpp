#include "compiler/import/text/BodyText.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::imports {

namespace {

/// A file below the folder in which the model was exported keeps its path.
std::string shortPlace(const std::string& place) { return place.starts_with('/') ? place.substr(place.rfind('/') + 1) : place; }

}  // namespace

BodyText::BodyText(const Exported& exported, const MadeText& makes, const Block& block, const Unit& unit, ValueNames& values)
    : exported(exported), makes(makes), block(block), unit(unit), values(values) {
  for (const Step& step : unit.steps) {
    for (const ValueId result : step.results) reads[result] += 0;
    for (const ValueId value : readBy(step)) ++reads[value];
  }
  for (const ValueId output : unit.outputs) ++reads[output];
}

Text BodyText::operand(ValueId value) {
  if (const auto pending = waiting.find(value); pending != waiting.end()) {
    Text text = std::move(pending->second);
    waiting.erase(pending);
    return text;
  }
  const auto known = values.names.find(value);
  return {known == values.names.end() ? "?" : known->second, "", Binding::Atom, 0};
}

Text BodyText::applied(const Text& operand, const std::string& callee, const std::string& arguments, bool isInstance) {
  Text text;
  const std::string whole = operand.isPiped() ? operand.pipe : operand.call;
  text.call = arguments.empty() ? fmt::format("{}({})", callee, whole) : fmt::format("{}({}, {})", callee, whole, arguments);
  const std::string start = operand.depth == 0 ? operand.as(kPipe) : operand.pipe;
  text.pipe = fmt::format("{} |> {}{}", start, callee, arguments.empty() || isInstance ? "" : "(" + arguments + ")");
  text.depth = operand.depth + 1;
  return text;
}

Text BodyText::filledText(const Marked& marked, Binding binding) {
  Text text;
  text.call = emit::filled(marked, [&](const emit::Mark& mark) {
    return mark.tensor ? operand(static_cast<ValueId>(*mark.tensor)).as(mark.least) : block.holes[mark.hole];
  });
  text.binding = binding;
  return text;
}

Text BodyText::textOf(const Step& step) {
  if (step.kind == Step::Kind::Apply && step.operands.size() == 1 && !step.givesList)
    return applied(operand(step.operands[0]), step.target, "", true);
  if (step.kind == Step::Kind::Apply) {
    std::string operands;
    for (const ValueId value : step.operands) operands += (operands.empty() ? "" : ", ") + operand(value).as(Binding::Any);
    return {step.target + (step.givesList ? "([" + operands + "])" : "(" + operands + ")"), "", Binding::Atom, 0};
  }
  const Expression& made = step.expression;
  const std::string arguments = makes.argumentText(made);
  if (unit.isOfList && &step == &unit.steps.front())
    return {"concat(xs" + (arguments.empty() ? "" : ", " + arguments) + ")", "", Binding::Atom, 0};
  if (made.callee.empty()) return filledText(made.text, made.binding);
  if (made.tensors.size() == 1) {
    const std::vector<emit::Mark> marks = emit::marksOf(made.tensors[0]);
    if (marks.size() == 1 && marks[0].begin == 0 && marks[0].end == made.tensors[0].size())
      return applied(operand(static_cast<ValueId>(*marks[0].tensor)), made.callee, arguments, false);
  }
  std::string operands;
  for (const Marked& tensor : made.tensors) operands += (operands.empty() ? "" : ", ") + filledText(tensor, Binding::Any).call;
  if (!arguments.empty()) operands += (operands.empty() ? "" : ", ") + arguments;
  return {fmt::format("{}({})", made.callee, operands), "", Binding::Atom, 0};
}

bool BodyText::isWrittenInNext(std::size_t at, const Text& text) const {
  const Step& step = unit.steps[at];
  if (step.results.size() != 1 || reads.at(step.results[0]) != 1) return false;
  const bool isLast = at + 1 == unit.steps.size();
  if (isLast) return unit.outputs.size() == 1 && unit.outputs[0] == step.results[0];
  const Step& next = unit.steps[at + 1];
  if (next.kind == Step::Kind::Chain || text.as(Binding::Any).size() > 200) return false;
  const std::vector<ValueId> read = readBy(next);
  return std::find(read.begin(), read.end(), step.results[0]) != read.end();
}

std::string BodyText::comment(const std::string& place) {
  if (place.empty() || shortPlace(place) == lastPlace) return "";
  lastPlace = shortPlace(place);
  return "  // " + lastPlace;
}

std::string BodyText::declared(const Declared& weight) const {
  const Value& value = exported[weight.weight];
  const std::optional<std::string> fill = value.fill ? numberText(*value.fill) : std::nullopt;
  const std::string init = !fill ? "normal(0, 0.02)" : *fill == "0" ? "zeros" : *fill == "1" ? "ones" : "constant(" + *fill + ")";
  return fmt::format("  {} {}: tensor{} init {}\n", value.isLearned ? "weight" : "buffer", weight.name,
                     makes.filledHoles(weight.shape), init);
}

std::string BodyText::chain(const Step& step) {
  const std::string name = values.fresh("y"), member = values.fresh("layer");
  const std::string text =
      fmt::format("  var {} = {}{}\n  for {} in {} {{ {} = {}({}) }}\n", name, operand(step.operands[0]).as(Binding::Any),
                  comment(step.place), member, step.target, name, member, name);
  values.taken.erase(member);
  values.names[step.results[0]] = name;
  return text;
}

std::string BodyText::text() {
  std::string text;
  for (const Declared& weight : unit.weights) text += declared(weight);
  for (const Made& made : unit.made) text += fmt::format("  let {} = {}\n", made.name, makes.constructor(made));
  for (std::size_t at = 0; at < unit.steps.size(); ++at) {
    const Step& step = unit.steps[at];
    if (step.kind == Step::Kind::Chain) {
      text += chain(step);
      continue;
    }
    Text value = textOf(step);
    if (isWrittenInNext(at, value)) {
      waiting.emplace(step.results[0], std::move(value));
      continue;
    }
    std::string targets;
    for (const ValueId result : step.results) {
      values.names[result] = values.fresh("y");
      targets += (targets.empty() ? "" : ", ") + values.names[result];
    }
    if (step.results.size() > 1) targets = "(" + targets + ")";
    text += fmt::format("  let {} = {}{}\n", targets, value.as(Binding::Any), comment(step.place));
  }
  std::string results;
  std::string place;
  for (const ValueId output : unit.outputs) {
    place = exported[output].place;
    results += (results.empty() ? "" : ", ") + operand(output).as(Binding::Any);
  }
  return text + "  return " + (unit.outputs.size() > 1 ? "(" + results + ")" : results) + comment(place) + "\n";
}

}  // namespace tbem::imports
