#include "runtime/backends/cuda/device/Images.h"

#include "runtime/backends/cuda/device/Op.h"

#include <fmt/format.h>

#include <array>

namespace tbem::cuda {

namespace {
constexpr int kImageRank = 4;
constexpr std::array<int, 4> kChannelsLast{0, 2, 3, 1};  // axes of an image as they lie

bool isFixedImage(const tbem_operand& operand) {
  return operand.present != 0 && operand.layout.any == 0 && operand.rank == kImageRank;
}
}  // namespace

SaidOrder saidOrder(const tbem_op_desc& op) {
  SaidOrder said;
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& operand = op.operands[k];
    if (!isFixedImage(operand)) continue;
    const bool rowMajor = runtime::isPlain(operand), last = runtime::isChannelsLast(operand);
    if (rowMajor && last) continue;
    const ImageOrder order = last ? ImageOrder::ChannelsLast : ImageOrder::RowMajor;
    said.differs = said.differs || (!rowMajor && !last) || (said.order && *said.order != order);
    said.order = order;
  }
  return said;
}

ImageOrder orderOf(const tbem_op_desc& op) { return saidOrder(op).order.value_or(ImageOrder::RowMajor); }

tbem_status imageLayouts(tbem_op_desc& op, ImageOrder order) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (operand.present == 0) continue;
    const bool last = order == ImageOrder::ChannelsLast && operand.rank == kImageRank;
    if (operand.layout.any != 0) last ? runtime::setChannelsLast(operand) : runtime::setPlain(operand);
    if (!(last ? runtime::isChannelsLast(operand) : runtime::isPlain(operand)))
      return unsupported(op, fmt::format("operand {} does not lie in {} order", k, last ? "the images'" : "row-major"));
  }
  return TBEM_OK;
}

tbem_status imageLayouts(tbem_op_desc& op) { return imageLayouts(op, orderOf(op)); }

tbem_operand asItLies(const tbem_operand& operand) {
  if (!runtime::isChannelsLast(operand) || runtime::isPlain(operand)) return operand;
  tbem_operand lies = operand;
  for (int d = 0; d < kImageRank; ++d) lies.dims[d] = operand.dims[kChannelsLast[static_cast<std::size_t>(d)]];
  runtime::setPlain(lies);
  return lies;
}

int axisAsItLies(ImageOrder order, int axis) {
  if (order == ImageOrder::RowMajor) return axis;
  int at = 0;
  while (kChannelsLast[static_cast<std::size_t>(at)] != axis) ++at;
  return at;
}

}  // namespace tbem::cuda
