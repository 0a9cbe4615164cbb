#include "runtime/backends/cpu/dnnl/DnnlReplaced.h"

#include <algorithm>

namespace tbem::cpu {

std::uint64_t Replaced::copyBytes() const {
  constexpr std::uint64_t kAlignment = 64;
  return (operands[copy].layout.bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t Replaced::workspace() const { return copyBytes() + std::max(convolution.descriptor.workspace(), move.workspace()); }

tbem_op_desc Replaced::describe(const tbem_op_desc& op) {
  tbem_op_desc other = op;
  other.operands = operands.data();
  other.attributes = attributes.data();
  other.attribute_count = static_cast<std::int32_t>(attributes.size());
  other.algorithm = static_cast<std::int32_t>(ConvAlgorithm::Direct);
  return other;
}

tbem_status makeParts(const tbem_op_desc& op, Replaced& replaced, std::unique_ptr<Op>& move, std::unique_ptr<Op>& convolution) {
  const tbem_op_desc other = replaced.describe(op);
  const tbem_status status =
      onednn::makeOp(other, replaced.move, {{DNNL_ARG_FROM, 0, replaced.from}, {DNNL_ARG_TO, 1, replaced.to}}, move);
  if (status != TBEM_OK) return status;
  const onednn::Descriptor& chosen = replaced.convolution.descriptor;
  return onednn::makeOp(other, chosen, convolutionArguments(other, chosen), convolution);
}

tbem_status runMove(Op& move, void* from, void* to, void* work) {
  void* const moved[3] = {from, to, nullptr};
  return move.run(moved, work, nullptr);
}

}  // namespace tbem::cpu
