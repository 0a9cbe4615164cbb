// Operators of the graph that stand in no call that PyTorch has.
#include "compiler/emit/python/Elements.h"
#include "compiler/emit/pytorch/PyTorch.h"

namespace tbem::emit {

std::string pyTorchType(tbem_dtype dtype) {
  switch (dtype) {
    case TBEM_F32:
    case TBEM_F64:
      return "torch.get_default_dtype()";
    case TBEM_BF16:
      return "torch.bfloat16";
    case TBEM_F16:
      return "torch.float16";
    case TBEM_I64:
      return "torch.int64";
    default:
      return "torch.bool";
  }
}

tl::expected<Code, Refusal> pyTorchOperator(const graph::Row& row, const graph::Op& op, Scribe& scribe) {
  static constexpr ElementWords kWords = {.framework = "PyTorch",
                                          .prefix = "torch.",
                                          .power = "torch.pow",
                                          .full = "torch.full({0}, {1}, dtype={2})",
                                          .broadcast = "torch.broadcast_to({0}, {1})",
                                          .kept = "-1",
                                          .cast = "{0}.to({1})",
                                          .atLeast = "torch.clamp({0}, min={1})",
                                          .atMost = "torch.clamp({0}, max={1})",
                                          .random = "torch.rand({0})",
                                          .permuted = "{0}.permute({1})",
                                          .range = "torch.arange({0})",
                                          .reshaped = "{0}.reshape({1})",
                                          .scalar = "()",
                                          .type = pyTorchType,
                                          .promotes = true};
  return elementCode(
      row, op, kWords, [](graph::TensorId tensor, Binding least) { return Scribe::operand(tensor, least); }, scribe);
}

}  // namespace tbem::emit
