// Copies of images with zeros around and between their pixels, and back.
#include "runtime/backends/cuda/libraries/ConvWays.h"
#include "runtime/core/Layout.h"

namespace tbem::cuda {

namespace {

/// pad or slice of planes[planes, rows, columns].
tl::expected<std::unique_ptr<Op>, std::string> moveOf(tbem_primitive primitive, const ImageMove& move) {
  const bool spreads = primitive == TBEM_PRIMITIVE_pad;
  const tbem_operand smaller = runtime::plainOperand(move.dtype, {move.planes, move.from[0], move.from[1]});
  const tbem_operand larger = runtime::plainOperand(move.dtype, {move.planes, move.to[0], move.to[1]});
  std::array<tbem_operand, 2> operands{spreads ? smaller : larger, spreads ? larger : smaller};
  // Zeros between elements are one less than the step over them.
  const std::int64_t less = spreads ? 1 : 0;
  const std::array<std::int64_t, 8> attributes{3, 0,        move.start[0],       move.start[1],
                                               3, 1 - less, move.step[0] - less, move.step[1] - less};
  const tbem_op_desc op{
      sizeof(tbem_op_desc), primitive, 1, 1, operands.data(), attributes.data(), static_cast<int>(attributes.size()), 1, 0};
  if (std::string wrong = runtime::checkDescription(op); !wrong.empty()) return tl::unexpected(std::move(wrong));
  std::unique_ptr<Op> made;
  if (moveFamily().create(op, made) != TBEM_OK) return tl::unexpected(std::string(lastErrorText()));
  return made;
}

}  // namespace

std::uint64_t ImageMove::bytesTo() const { return runtime::plainOperand(dtype, {planes, to[0], to[1]}).layout.bytes; }

tl::expected<std::unique_ptr<Op>, std::string> spreadOf(const ImageMove& move) { return moveOf(TBEM_PRIMITIVE_pad, move); }
tl::expected<std::unique_ptr<Op>, std::string> cutOf(const ImageMove& move) { return moveOf(TBEM_PRIMITIVE_slice, move); }

}  // namespace tbem::cuda
