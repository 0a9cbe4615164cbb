// Arguments of ATen's operators, as torch.export has them.
#include "compiler/import/onnx/OnnxGraph.h"

#include <utility>

namespace tbem::imports {

Argument valueArgument(ValueId value) {
  Argument argument;
  argument.kind = Argument::Kind::Value;
  argument.value = value;
  return argument;
}
Argument integerArgument(std::int64_t number) {
  Argument argument;
  argument.kind = Argument::Kind::Integer;
  argument.integer = number;
  argument.real = static_cast<double>(number);
  argument.size.number = number;
  return argument;
}
Argument realArgument(double number) {
  Argument argument;
  argument.kind = Argument::Kind::Real;
  argument.real = number;
  return argument;
}
Argument flagArgument(bool flag) {
  Argument argument = integerArgument(flag ? 1 : 0);
  argument.kind = Argument::Kind::Bool;
  return argument;
}
Argument textArgument(std::string text) {
  Argument argument;
  argument.kind = Argument::Kind::Text;
  argument.text = std::move(text);
  return argument;
}
Argument listArgument(const std::vector<std::int64_t>& numbers) {
  Argument argument;
  argument.kind = Argument::Kind::List;
  for (const std::int64_t number : numbers) argument.items.push_back(integerArgument(number));
  return argument;
}

}  // namespace tbem::imports
