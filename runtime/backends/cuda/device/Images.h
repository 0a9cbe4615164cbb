// In which order the images of an operator lie: row-major (NCHW), or with their channels innermost (NHWC).
#pragma once

#include "tbem/backend.h"

#include <optional>

namespace tbem::cuda {

enum class ImageOrder { RowMajor, ChannelsLast };

/// What the operands of rank 4 that are not open say: the order in which all lie that can lie in one alone.
struct SaidOrder {
  std::optional<ImageOrder> order;  ///< nothing: all of them are open, or may lie in both
  bool differs = false;             ///< some lie so, others so, or one in neither
};
SaidOrder saidOrder(const tbem_op_desc& op);
/// The order of fixed operands; row-major where they do not say.
ImageOrder orderOf(const tbem_op_desc& op);

/// Gives open operands of rank 4 that order and others the row-major one. TBEM_UNSUPPORTED where a fixed one lies otherwise.
tbem_status imageLayouts(tbem_op_desc& op, ImageOrder order);
/// The same in the order that fixed ones say, row-major where they do not.
tbem_status imageLayouts(tbem_op_desc& op);

/// The operand as its elements lie, row-major: of images with their channels last [n, h, w, c].
tbem_operand asItLies(const tbem_operand& operand);
/// Where axis `axis` of an operand of rank 4 is among those of asItLies, in this order.
int axisAsItLies(ImageOrder order, int axis);

}  // namespace tbem::cuda
