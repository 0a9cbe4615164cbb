#include "runtime/backends/cuda/libraries/Conversion.h"

#include "runtime/core/Layout.h"

#include <array>

namespace tbem::cuda {

tl::expected<std::unique_ptr<Op>, std::string> conversionOf(std::int32_t from, std::int32_t to, std::int64_t count) {
  std::array<tbem_operand, 2> operands{runtime::plainOperand(from, {count}), runtime::plainOperand(to, {count})};
  const tbem_op_desc op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_reorder, 1, 1, operands.data(), nullptr, 0, 1, 0};
  std::unique_ptr<Op> made;
  if (moveFamily().create(op, made) != TBEM_OK) return tl::unexpected(std::string(lastErrorText()));
  return made;
}

}  // namespace tbem::cuda
