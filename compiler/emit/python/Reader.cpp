#include "compiler/emit/python/Reader.h"

#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::emit {

const sema::Value* parameterOf(const graph::Call& call, std::string_view name) {
  const auto known =
      std::find_if(call.parameters.begin(), call.parameters.end(), [&](const auto& one) { return one.first == name; });
  return known != call.parameters.end() ? &known->second : nullptr;
}

const sema::Value& CallReader::value(std::string_view parameter) const {
  const sema::Value* const known = parameterOf(call, parameter);
  TBEM_CHECK(known != nullptr);
  return *known;
}

std::string evenText(const Numbers& numbers) {
  const bool even = std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return n == numbers.front(); });
  return even ? pythonText(numbers.front()) : pythonText(numbers);
}

Code functionCode(std::string callee, std::vector<Argument> arguments) {
  Code code;
  code.call = {std::move(callee), std::move(arguments)};
  return code;
}

Code expressionCode(Marked text, Binding binding) {
  Code code;
  code.text = std::move(text);
  code.binding = binding;
  return code;
}

Code moduleCode(CallText constructor, Marked operand) {
  Code code;
  code.module = std::move(constructor);
  code.call.arguments = {{"", std::move(operand), ""}};
  return code;
}

Code sliceCode(const Marked& operand, const Numbers& start, const Numbers& size, const Numbers& stride, const Numbers& shape) {
  std::vector<std::string> parts;
  std::size_t last = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool toTheEnd = start[axis] + size[axis] * stride[axis] >= shape[axis];
    std::string part = start[axis] == 0 ? ":" : pythonText(start[axis]) + ":";
    if (!toTheEnd) part += pythonText(start[axis] + (size[axis] - 1) * stride[axis] + 1);
    if (stride[axis] != 1) part += ":" + pythonText(stride[axis]);
    if (part != ":") last = axis;
    parts.push_back(std::move(part));
  }
  parts.resize(last + 1);
  return expressionCode(fmt::format("{}[{}]", operand, fmt::join(parts, ", ")), Binding::Atom);
}

double deviationOf(std::string_view init, const Numbers& shape) {
  double inside = 1;  // of the dimensions behind the second
  for (std::size_t axis = 2; axis < shape.size(); ++axis) inside *= static_cast<double>(shape[axis]);
  const double fanIn = shape.size() < 2 ? 1 : static_cast<double>(shape[1]) * inside;
  const double fanOut = (shape.empty() ? 1 : static_cast<double>(shape.front())) * inside;
  if (init.starts_with("he")) return std::sqrt(2 / fanIn);
  return init.starts_with("xavier") ? std::sqrt(2 / (fanIn + fanOut)) : 1 / std::sqrt(3 * fanIn);
}

bool isZero(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 0; });
}

bool isNowhere(const CallReader& call) {
  const std::string_view word = call.call.decl->name.text;
  if (word == "sum" || word == "mean" || word == "max" || word == "min" || word == "variance")
    return call.integers("axis").empty();
  if (word == "split") return call.integers("sizes").size() < 2;
  return word == "pad" && !isZero(call.integers("interior"));
}

bool isSymmetric(const Numbers& pad) { return pad[0] == pad[2] && pad[1] == pad[3]; }

std::string valueText(const graph::Row& row, const sema::Value& value) {
  switch (value.kind) {
    case sema::ValueKind::Bool:
      return pythonText(row.values[value.expr].num != 0);
    case sema::ValueKind::Number:
      return value.isReal ? pythonReal(row.values[value.expr]) : row.values[value.expr].str();
    case sema::ValueKind::List: {
      std::string text;
      bool even = true;
      for (const sema::Value& item : value.items) {
        const std::string one = valueText(row, item);
        even = even && one == valueText(row, value.items.front());
        text += (text.empty() ? "" : ", ") + one;
      }
      return even && !value.items.empty() ? valueText(row, value.items.front()) : "(" + text + ")";
    }
    default:
      return "";
  }
}

}  // namespace tbem::emit
