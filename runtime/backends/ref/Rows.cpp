// Rows of samples behind gates: split_rows, move_rows.
#include "runtime/backends/ref/Kernels.h"

#include <cstring>

namespace tbem::ref {

tbem_status splitRows(const Op& op, void* const* memory, void*, const double*) {
  const auto* condition = static_cast<const std::uint8_t*>(memory[0]);
  const auto* origin = static_cast<const std::int64_t*>(memory[1]);
  const std::int64_t count = origin != nullptr ? origin[0] : op.operands[0].dims[0];
  std::int64_t* lists[2] = {static_cast<std::int64_t*>(memory[3]), static_cast<std::int64_t*>(memory[2])};
  std::int64_t* origins[2] = {static_cast<std::int64_t*>(memory[5]), static_cast<std::int64_t*>(memory[4])};
  std::int64_t found[2] = {0, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const int side = condition[i] != 0 ? 1 : 0;
    lists[side][++found[side]] = i;
    if (origin != nullptr) origins[side][found[side]] = origin[1 + i];
  }
  for (const int side : {0, 1}) {
    lists[side][0] = found[side];
    if (origin != nullptr) origins[side][0] = found[side];
  }
  return TBEM_OK;
}

tbem_status moveRows(const Op& op, void* const* memory, void*, const double*) {
  const auto* from = static_cast<const std::int64_t*>(memory[1]);
  const auto* to = static_cast<const std::int64_t*>(memory[2]);
  const std::int64_t* list = from != nullptr ? from : to;
  const tbem_operand& x = op.operands[0];
  const std::int64_t samples = op.operands[from != nullptr ? 1 : 2].dims[0] - 1;
  const std::uint64_t bytes = x.layout.bytes / static_cast<std::uint64_t>(samples);
  const auto place = [bytes](void* base, const std::int64_t* rows, std::int64_t i) {
    return static_cast<char*>(base) + static_cast<std::uint64_t>(rows != nullptr ? rows[1 + i] : i) * bytes;
  };
  for (std::int64_t i = 0; i < list[0]; ++i) std::memmove(place(memory[3], to, i), place(memory[0], from, i), bytes);
  return TBEM_OK;
}

}  // namespace tbem::ref
