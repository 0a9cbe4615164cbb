// Operators on bf16 and f16: operands are widened to f32, the f32 kernel runs, results are rounded. Sums are in f64 as ever, so a
// result is rounded from f64 to f32 to the narrow type: half a unit of it plus 2^-24 of the number.
#include "runtime/backends/ref/Kernels.h"
#include "runtime/core/NarrowFloat.h"

namespace tbem::ref {
namespace {

constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t wideBytes(const tbem_operand& operand) {
  const bool widened = operand.present != 0 && runtime::isNarrow(operand.dtype);
  return widened ? aligned(static_cast<std::uint64_t>(runtime::elementCount(operand)) * sizeof(float)) : 0;
}

}  // namespace

bool hasNarrow(const tbem_op_desc& op) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].present != 0 && runtime::isNarrow(op.operands[k].dtype)) return true;
  }
  return false;
}

std::uint64_t widenedBytes(const tbem_op_desc& op) {
  std::uint64_t bytes = 0;
  for (int k = 0; k < op.inputs + op.outputs; ++k) bytes += wideBytes(op.operands[k]);
  return bytes;
}

tbem_status runWidened(const Op& op, void* const* memory, void* work, const double* scalars) {
  auto* place = static_cast<char*>(work);
  std::vector<void*> wide(memory, memory + op.operands.size());
  for (std::size_t k = 0; k < op.operands.size(); ++k) {
    const std::uint64_t bytes = wideBytes(op.operands[k]);
    if (bytes == 0) continue;
    wide[k] = place;
    place += bytes;
    const std::int64_t count = static_cast<int>(k) < op.desc.inputs ? runtime::elementCount(op.operands[k]) : 0;
    runtime::withNarrow(op.operands[k].dtype, [&](auto narrow) {
      const auto* from = static_cast<const decltype(narrow)*>(memory[k]);
      for (std::int64_t i = 0; i < count; ++i) static_cast<float*>(wide[k])[i] = static_cast<float>(from[i]);
    });
  }
  if (const tbem_status status = op.wideKernel(op, wide.data(), place, scalars); status != TBEM_OK) return status;
  for (auto k = static_cast<std::size_t>(op.desc.inputs); k < op.operands.size(); ++k) {
    if (wideBytes(op.operands[k]) == 0) continue;
    const auto* from = static_cast<const float*>(wide[k]);
    runtime::withNarrow(op.operands[k].dtype, [&](auto narrow) {
      using Narrow = decltype(narrow);
      auto* to = static_cast<Narrow*>(memory[k]);
      for (std::int64_t i = 0; i < runtime::elementCount(op.operands[k]); ++i) to[i] = Narrow(from[i]);
    });
  }
  return TBEM_OK;
}

}  // namespace tbem::ref
