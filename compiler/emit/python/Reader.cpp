#include "compiler/emit/python/Reader.h"

#include "compiler/support/Bug.h"

#include <fmt/format.h>

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
