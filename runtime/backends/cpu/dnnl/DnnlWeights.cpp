#include "runtime/backends/cpu/dnnl/DnnlWeights.h"

#include <algorithm>
#include <array>

namespace tbem::cpu::onednn {
namespace {

/// Which of the five dimensions our dimension d is: the output channels of a depthwise weight are its groups.
int five(int d, bool depthwise) { return d == 0 ? (depthwise ? 0 : 1) : d + 1; }

/// The five outer dimensions from the outermost to the innermost, as the operand's strides order them; the group comes first, or
/// right before the output channels.
std::array<int, 5> outerOrder(const tbem_operand& operand, bool depthwise) {
  std::array<int, 4> ours = {0, 1, 2, 3};
  std::stable_sort(ours.begin(), ours.end(), [&](int a, int b) { return operand.layout.strides[a] > operand.layout.strides[b]; });
  std::array<int, 5> order{};
  std::size_t at = 0;
  if (!depthwise) order[at++] = 0;
  for (const int d : ours) {
    order[at++] = five(d, depthwise);
    if (depthwise && d == 0) order[at++] = 1;
  }
  return order;
}

}  // namespace

bool describeWeight(const tbem_operand& operand, std::int64_t groups, dnnl_memory_desc_t& memory) {
  if (groups == 1) {
    memory = describeOperand(operand);
    return true;
  }
  const std::int64_t outputs = operand.dims[0] / groups;
  const bool depthwise = outputs == 1;
  memory = {};
  memory.ndims = 5;
  memory.data_type = dataType(operand);
  const dnnl_dim_t dims[5] = {groups, outputs, operand.dims[1], operand.dims[2], operand.dims[3]};
  std::copy_n(dims, 5, memory.dims);
  if (operand.layout.any) {
    memory.format_kind = dnnl_format_kind_any;
    return true;
  }
  memory.format_kind = dnnl_blocked;
  auto& blocking = memory.format_desc.blocking;
  std::int64_t perDimension[5] = {1, 1, 1, 1, 1}, stride = 1;
  blocking.inner_nblks = operand.layout.blocks;
  for (int b = 0; b < operand.layout.blocks; ++b) {
    blocking.inner_blks[b] = operand.layout.block_size[b];
    blocking.inner_idxs[b] = five(operand.layout.block_dim[b], depthwise);
    perDimension[blocking.inner_idxs[b]] *= operand.layout.block_size[b];
    stride *= operand.layout.block_size[b];
  }
  if (!depthwise && outputs % perDimension[1] != 0) return false;
  std::copy_n(dims, 5, memory.padded_dims);
  for (int d = 0; d < 4; ++d) {
    if (d > 0 || depthwise) memory.padded_dims[five(d, depthwise)] = operand.layout.padded[d];
  }
  const std::array<int, 5> order = outerOrder(operand, depthwise);
  for (std::size_t k = 5; k-- > 0;) {
    const int d = order[k];
    blocking.strides[d] = stride;
    stride *= memory.padded_dims[d] / perDimension[d];
  }
  // A depthwise weight has one output and one input a group. Where these lie makes no difference to the places, but oneDNN takes
  // a descriptor for one of its own layouts by their strides too, which in blocks of groups are those of the input's dimension.
  if (depthwise && operand.layout.blocks > 0 && operand.layout.padded[1] == 1)
    blocking.strides[1] = blocking.strides[2] = operand.layout.strides[1];
  const bool oneBlock = depthwise || outputs == perDimension[1];
  if (operand.layout.strides[0] != blocking.strides[oneBlock ? 0 : 1]) return false;
  for (int d = 1; d < 4; ++d) {
    if (operand.layout.padded[d] > perDimension[d + 1] && operand.layout.strides[d] != blocking.strides[d + 1]) return false;
  }
  return true;
}

bool readWeight(const dnnl_memory_desc_t& memory, std::int64_t groups, tbem_operand& operand) {
  if (groups == 1) return readLayout(memory, operand);
  const auto& blocking = memory.format_desc.blocking;
  if (memory.format_kind != dnnl_blocked || memory.ndims != 5 || memory.extra.flags != dnnl_memory_extra_flag_none ||
      blocking.inner_nblks > 4) {
    return false;
  }
  const bool depthwise = memory.dims[1] == 1;
  tbem_operand read = operand;
  read.layout = {};
  std::int64_t block = 1;
  read.layout.blocks = blocking.inner_nblks;
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    const auto d = static_cast<int>(blocking.inner_idxs[b]);
    if (d == (depthwise ? 1 : 0)) return false;
    read.layout.block_dim[b] = d <= 1 ? 0 : d - 1;
    read.layout.block_size[b] = static_cast<std::int32_t>(blocking.inner_blks[b]);
    if (d <= 1) block *= blocking.inner_blks[b];
  }
  if (!depthwise && memory.padded_dims[1] != memory.dims[1]) return false;
  const bool oneBlock = depthwise || memory.dims[1] == block;
  read.layout.strides[0] = blocking.strides[oneBlock ? 0 : 1];
  read.layout.padded[0] = depthwise ? memory.padded_dims[0] : operand.dims[0];
  for (int d = 1; d < 4; ++d) {
    read.layout.strides[d] = blocking.strides[d + 1];
    read.layout.padded[d] = memory.padded_dims[d + 1];
  }
  read.layout.bytes = dnnl_memory_desc_get_size(&memory);
  // It must come back as the same descriptor: this is what refuses everything that four dimensions cannot say.
  dnnl_memory_desc_t again;
  if (!describeWeight(read, groups, again) || dnnl_memory_desc_equal(&memory, &again) == 0) return false;
  operand = read;
  return true;
}

}  // namespace tbem::cpu::onednn
