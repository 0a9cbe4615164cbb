#include "runtime/core/Primitive.h"

#include "runtime/core/ShapeRules.h"

#include <fmt/format.h>

#include <span>

namespace tbem::runtime {
namespace {

/// Calls use(word) for each word.
template <class Use>
void forWords(std::string_view list, Use use) {
  while (!list.empty()) {
    const auto end = list.find(' ');
    if (end != 0) use(list.substr(0, end));
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
}

/// "" or why the flattened attributes are not those of the signature.
std::string checkAttributes(const Signature& s, const tbem_op_desc& op) {
  std::int64_t at = 0;
  std::string wrong;
  forWords(s.attributes, [&](std::string_view word) {
    if (!wrong.empty()) return;
    std::int64_t need = 1;
    const auto bracket = word.find('[');
    if (bracket != std::string_view::npos && word[bracket + 1] == '*') {
      if (at >= op.attribute_count) {
        wrong = fmt::format("{}: attribute {} is missing", s.name, word);
        return;
      }
      need = op.attributes[at++];
      if (need < 0 || need > TBEM_MAX_RANK) {
        wrong = fmt::format("{}: attribute {} has {} values", s.name, word, need);
        return;
      }
    } else if (bracket != std::string_view::npos) {
      need = word[bracket + 1] - '0';
    }
    at += need;
  });
  if (wrong.empty() && at != op.attribute_count) {
    wrong = fmt::format("{}: {} attribute values where {} are expected", s.name, op.attribute_count, at);
  }
  return wrong;
}

std::string checkOperands(const Signature& s, const tbem_op_desc& op) {
  const bool enough = s.isVariadic() ? op.inputs >= s.inputCount() : op.inputs == s.inputCount();
  if (!enough || op.outputs != s.outputCount()) {
    return fmt::format("{}: {} inputs and {} outputs where {} and {} are expected", s.name, op.inputs, op.outputs, s.inputCount(),
                       s.outputCount());
  }
  std::string wrong;
  int k = 0;
  const auto one = [&](std::string_view word) {
    const tbem_operand& operand = op.operands[k++];
    if (!wrong.empty()) return;
    if (!operand.present) {
      if (word.back() != '?') wrong = fmt::format("{}: operand {} is absent", s.name, word);
      return;
    }
    if (operand.rank < 0 || operand.rank > TBEM_MAX_RANK) wrong = fmt::format("{}: {} has rank {}", s.name, word, operand.rank);
    for (int d = 0; d < operand.rank && wrong.empty(); ++d) {
      if (operand.dims[d] < 1) wrong = fmt::format("{}: {} has shape {}", s.name, word, shapeText(operand));
    }
  };
  if (s.isVariadic()) {
    while (k < op.inputs) one(s.inputs);
  } else {
    forWords(s.inputs, one);
  }
  forWords(s.outputs, one);
  return wrong;
}

}  // namespace

std::string shapeText(const tbem_operand& operand) {
  return fmt::format("[{}]", fmt::join(std::span(operand.dims, static_cast<std::size_t>(operand.rank)), ", "));
}

std::string checkDescription(const tbem_op_desc& op) {
  if (op.size != sizeof(tbem_op_desc)) return "the description has another version";
  if (op.primitive < 0 || op.primitive >= TBEM_PRIMITIVE_COUNT) return fmt::format("there is no primitive {}", op.primitive);
  const Signature& s = signature(static_cast<tbem_primitive>(op.primitive));
  std::string wrong = checkOperands(s, op);
  if (wrong.empty()) wrong = checkAttributes(s, op);
  if (wrong.empty()) wrong = detail::checkShapes(op);
  return wrong;
}

}  // namespace tbem::runtime
