#include "runtime/backends/cuda/device/Op.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

namespace tbem::cuda {

namespace {
thread_local std::array<char, 4096> lastError{};  // long enough for what a driver's compiler has to say
}

tbem_status fail(tbem_status status, const std::string& message) {
  std::snprintf(lastError.data(), lastError.size(), "%s", message.c_str());
  return status;
}

const char* lastErrorText() { return lastError.data(); }

Op::Op(const tbem_op_desc& from)
    : desc(from),
      operands(from.operands, from.operands + from.inputs + from.outputs),
      attributes(from.attributes, from.attributes + from.attribute_count) {
  desc.operands = operands.data();
  desc.attributes = attributes.data();
}

tbem_status plainLayouts(tbem_op_desc& op) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (operand.present == 0) continue;
    if (operand.layout.any != 0) runtime::setPlain(operand);
    if (!runtime::isPlain(operand)) {
      return fail(TBEM_UNSUPPORTED, fmt::format("cuda: {}: operand {} does not lie in row-major order",
                                                runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, k));
    }
  }
  return TBEM_OK;
}

}  // namespace tbem::cuda
