#include "runtime/backends/cpu/ops/View.h"

#include "runtime/core/Primitive.h"

#include <array>
#include <cstring>
#include <utility>

namespace tbem::cpu {

bool channelView(const tbem_operand& operand, ChannelView& view) {
  const tbem_layout& layout = operand.layout;
  if (operand.rank < 2 || layout.any) return false;
  if (layout.blocks > 1 || (layout.blocks == 1 && layout.block_dim[0] != 1)) return false;
  view = {};
  view.n = operand.dims[0], view.channels = operand.dims[1], view.points = 1;
  for (int d = 2; d < operand.rank; ++d) view.points *= operand.dims[d];
  const bool last = layout.blocks == 0 && operand.dims[1] > 1 && layout.strides[1] == 1 && view.points > 1;
  view.lanes = layout.blocks == 1 ? layout.block_size[0] : last ? operand.dims[1] : 1;
  view.point = view.lanes;
  view.blocks = (operand.dims[1] + view.lanes - 1) / view.lanes;
  view.image = layout.strides[0], view.block = layout.strides[1];
  std::int64_t stride = view.point;
  for (int d = operand.rank; d-- > 2;) {
    if (layout.padded[d] != operand.dims[d] || (operand.dims[d] != 1 && layout.strides[d] != stride)) return false;
    stride *= operand.dims[d];
  }
  const std::int64_t block = view.points * view.point;
  if (view.blocks > 1 && view.block != block) return false;
  view.block = block;
  if (view.n > 1 && view.image != view.blocks * block) return false;
  view.image = view.blocks * block;
  return layout.padded[0] == operand.dims[0] && layout.padded[1] == view.blocks * view.lanes;
}

void setLike(tbem_operand& operand, const tbem_operand& like) {
  ChannelView view;
  if (operand.rank < 2 || !channelView(like, view) || view.plain()) return runtime::setPlain(operand);
  std::array<int, TBEM_MAX_RANK> order{};
  const auto rank = static_cast<std::size_t>(operand.rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = static_cast<int>(d);
  if (like.layout.blocks == 1) {
    const std::pair<int, int> block{1, static_cast<int>(view.lanes)};
    return runtime::setBlocked(operand, {order.data(), rank}, {&block, 1});
  }
  for (std::size_t d = 1; d + 1 < rank; ++d) order[d] = static_cast<int>(d) + 1;
  order[rank - 1] = 1;
  runtime::setBlocked(operand, {order.data(), rank}, {});
}

void fillAny(tbem_op_desc& op) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (!operand.present || !operand.layout.any) continue;
    const tbem_operand* like = nullptr;
    for (int j = 0; j < op.inputs + op.outputs && like == nullptr; ++j) {
      const tbem_operand& other = op.operands[j];
      if (other.present && !other.layout.any && other.rank == operand.rank && operand.rank > 2) like = &other;
    }
    if (like != nullptr) {
      setLike(operand, *like);
    } else {
      runtime::setPlain(operand);
    }
  }
}

void zeroPadding(const ChannelView& view, void* data, std::uint64_t elementBytes) {
  const std::int64_t used = view.channels - (view.blocks - 1) * view.lanes;
  if (used == view.lanes) return;
  for (std::int64_t n = 0; n < view.n; ++n) {
    const std::int64_t block = n * view.image + (view.blocks - 1) * view.block;
    for (std::int64_t s = 0; s < view.points; ++s) {
      const auto first = static_cast<std::uint64_t>(block + s * view.point + used) * elementBytes;
      std::memset(static_cast<char*>(data) + first, 0, static_cast<std::uint64_t>(view.lanes - used) * elementBytes);
    }
  }
}

OffsetTables::OffsetTables(const tbem_operand& operand) {
  std::int64_t at[TBEM_MAX_RANK] = {};
  for (int d = 0; d < operand.rank; ++d) {
    for (at[d] = 0; at[d] < operand.dims[d]; ++at[d]) of[d].push_back(runtime::offsetOf(operand, at));
    at[d] = 0;
  }
}

bool hasPadding(const tbem_operand& operand) {
  return static_cast<std::uint64_t>(runtime::elementCount(operand)) * runtime::elementBytes(operand.dtype) < operand.layout.bytes;
}

}  // namespace tbem::cpu
