#include "compiler/import/Opaque.h"

#include "compiler/import/Units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tbem::imports {

namespace {

/// "aten_cumsum" of "aten.cumsum.default", "aten_sum_dim_IntList" of "aten.sum.dim_IntList".
std::string nameOf(std::string op) {
  constexpr std::string_view kDefault = ".default";
  if (op.ends_with(kDefault)) op.resize(op.size() - kDefault.size());
  std::ranges::replace_if(
      op, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return op;
}

/// "tensor" of what the program's type of elements is; "" of a type that the language lacks.
std::string tensorText(const Facts& facts) {
  const std::string type = typeText(facts.type);
  return type == "f32" ? "tensor" : type;
}

/// All tensors that a node reads, those of lists among them; nothing where one has no type in the language.
std::optional<std::vector<ValueId>> tensorsOf(const NodeReader& node) {
  std::vector<ValueId> tensors;
  bool good = true;
  const auto add = [&](const Argument& argument, const auto& again) -> void {
    if (argument.kind == Argument::Kind::List) {
      for (const Argument& item : argument.items) again(item, again);
    } else if (argument.kind == Argument::Kind::Value) {
      tensors.push_back(argument.value);
      good = good && !tensorText(node.exported[argument.value].facts).empty();
    }
  };
  for (const Argument& argument : node.node.arguments) add(argument, add);
  for (const auto& [name, argument] : node.node.named) add(argument, add);
  return good && !tensors.empty() ? std::optional(std::move(tensors)) : std::nullopt;
}

std::string declarationText(const std::string& op, const std::string& name, const std::string& header) {
  return fmt::format("\n/// `{}`: what it computes is not known here\noperator {}{}\n  native opaque\n", op, name, header);
}

}  // namespace

std::optional<Expression> opaqueCall(const NodeReader& node, const std::set<std::string>& taken,
                                     std::vector<OpaqueOperator>& known) {
  const std::string type = tensorText(node.result());
  const std::optional<std::vector<ValueId>> tensors = tensorsOf(node);
  // Writes into a part of a tensor, and nodes of the exporter's own, are no operators.
  const bool isOperator =
      node.node.kind == Value::Kind::Node && !node.node.op.starts_with("in-place ") && !node.node.op.starts_with("tbem.");
  if (!isOperator || !node.node.parts.empty() || type.empty() || !tensors) return std::nullopt;
  std::string operands;
  std::vector<Marked> texts;
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    const Facts& facts = node.exported[(*tensors)[i]].facts;
    operands += fmt::format("{}x{}: {}[..s{}]", i == 0 ? "" : ", ", i + 1, tensorText(facts), i + 1);
    texts.push_back(emit::Scribe::operand(NodeReader::tensor((*tensors)[i]), Binding::Any));
  }
  const std::string header = fmt::format("({}; shape: list of int) -> (y: {}[..shape])", operands, type);
  const std::string& op = calledInModel(node.node);
  const auto isThis = [&](const OpaqueOperator& one) {
    return one.op == op && one.declaration == declarationText(one.op, one.name, header);
  };
  auto found = std::ranges::find_if(known, isThis);
  if (found == known.end()) {
    OpaqueOperator made;
    made.op = op;
    made.place = node.node.place;
    made.why = node.node.why;
    made.name = numberedName(nameOf(op), [&](const std::string& name) {
      return !taken.contains(name) && std::ranges::find(known, name, &OpaqueOperator::name) == known.end();
    });
    made.declaration = declarationText(made.op, made.name, header);
    found = known.insert(known.end(), std::move(made));
  }
  ++found->count;
  return call(found->name, std::move(texts), {{"shape", node.shape(node.result().shape), {}}});
}

}  // namespace tbem::imports
