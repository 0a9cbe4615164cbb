// Rules of shapes of primitives that move elements: axes, pieces, rows.
#include "runtime/core/Primitive.h"
#include "runtime/core/ShapeRules.h"

#include <algorithm>

namespace tbem::runtime::detail {
namespace {

/// The shape of `whole` with the dimension of `axis` replaced by those of `index`.
bool isGathered(const tbem_operand& whole, const tbem_operand& index, std::int64_t axis, const tbem_operand& part) {
  if (part.rank != whole.rank - 1 + index.rank) return false;
  for (int d = 0; d < part.rank; ++d) {
    const auto at = d - static_cast<int>(axis);
    const std::int64_t wanted = at < 0 ? whole.dims[d] : at < index.rank ? index.dims[at] : whole.dims[d - index.rank + 1];
    if (part.dims[d] != wanted) return false;
  }
  return true;
}

bool isList(const tbem_operand& operand, std::int64_t samples) {
  return !operand.present || (operand.dtype == TBEM_I64 && operand.rank == 1 && operand.dims[0] == 1 + samples);
}

}  // namespace

std::string checkMove(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  if (x.rank != y.rank) return shapes(op, "equal ranks");
  if (op.primitive == TBEM_PRIMITIVE_reorder) return sameShape(x, y) ? "" : shapes(op, "equal shapes");
  const std::int64_t* a = op.attributes;
  if (a[0] != x.rank) return mismatch(op, "number of axes", a[0], x.rank);
  if (op.primitive == TBEM_PRIMITIVE_permute) {
    bool seen[TBEM_MAX_RANK] = {};
    for (int d = 0; d < x.rank; ++d) {
      const std::int64_t from = a[1 + d];
      if (from < 0 || from >= x.rank || seen[from]) return mismatch(op, "axis", from, d);
      seen[from] = true;
      if (y.dims[d] != x.dims[from]) return shapes(op, "y's axis i is x's axis order[i]");
    }
    return "";
  }
  const std::int64_t* b = a + 1 + x.rank;
  if (b[0] != x.rank) return mismatch(op, "number of axes", b[0], x.rank);
  const bool isPad = op.primitive == TBEM_PRIMITIVE_pad;
  for (int d = 0; d < x.rank; ++d) {
    const std::int64_t start = a[1 + d], step = b[1 + d] + (isPad ? 1 : 0);
    const std::int64_t few = isPad ? x.dims[d] : y.dims[d], many = isPad ? y.dims[d] : x.dims[d];
    if (start < 0 || step < 1) return mismatch(op, isPad ? "low or interior" : "start or stride", std::min(start, step), 0);
    if (start + (few - 1) * step >= many) return shapes(op, isPad ? "y has room for x" : "x has the elements that y takes");
  }
  return "";
}

std::string checkConcat(const tbem_op_desc& op) {
  const tbem_operand& y = op.operands[op.inputs];
  const std::int64_t axis = op.attributes[0];
  if (axis < 0 || axis >= y.rank) return mismatch(op, "axis", axis, 0);
  std::int64_t total = 0;
  for (int k = 0; k < op.inputs; ++k) {
    const tbem_operand& x = op.operands[k];
    bool fits = x.rank == y.rank;
    for (int d = 0; fits && d < y.rank; ++d) fits = d == axis || x.dims[d] == y.dims[d];
    if (!fits) return shapes(op, "all dimensions but that of the axis agree");
    total += x.dims[axis];
  }
  return total == y.dims[axis] ? "" : mismatch(op, "length along the axis", y.dims[axis], total);
}

std::string checkGather(const tbem_op_desc& op) {
  const bool gradient = op.primitive == TBEM_PRIMITIVE_gather_gradient;
  const tbem_operand &whole = op.operands[gradient ? 2 : 0], &part = op.operands[gradient ? 0 : 2];
  if (op.attributes[0] < 0 || op.attributes[0] >= whole.rank) return mismatch(op, "axis", op.attributes[0], 0);
  if (!isGathered(whole, op.operands[1], op.attributes[0], part))
    return shapes(op, "the index's dimensions take the place of the axis");
  return "";
}

std::string checkArgMax(const tbem_op_desc& op) {
  const tbem_operand& x = op.operands[0];
  if (op.attributes[0] < 0 || op.attributes[0] >= x.rank) return mismatch(op, "axis", op.attributes[0], 0);
  return isGathered(x, tbem_operand{}, op.attributes[0], op.operands[1]) ? "" : shapes(op, "the axis is dropped");
}

std::string checkRows(const tbem_op_desc& op) {
  const tbem_operand* o = op.operands;
  if (op.primitive == TBEM_PRIMITIVE_split_rows) {
    if (o[0].dtype != TBEM_BOOL || o[0].rank != 1) return shapes(op, "condition bool[n]");
    for (int k = 1; k < 6; ++k) {
      if (!isList(o[k], o[0].dims[0])) return shapes(op, "lists i64[1 + n]");
    }
    const bool all = !o[1].present;
    if (all != !o[4].present || all != !o[5].present) return shapes(op, "all lists of origins or none");
    return "";
  }
  const tbem_operand& list = o[1].present ? o[1] : o[2];
  if (!list.present || list.dtype != TBEM_I64 || list.rank != 1 || list.dims[0] < 2) return shapes(op, "a list i64[1 + n]");
  const std::int64_t samples = list.dims[0] - 1;
  if (!isList(o[1], samples) || !isList(o[2], samples)) return shapes(op, "lists of one length");
  if (o[0].rank < 1 || !sameShape(o[0], o[3])) return shapes(op, "y as x");
  // Dimensions of 1 may stand before the rows (tbem_take_rows).
  const std::int64_t* const rows = std::find_if(o[0].dims, o[0].dims + o[0].rank - 1, [](std::int64_t n) { return n != 1; });
  if (*rows % samples != 0) return shapes(op, "rows of n samples");
  if (o[0].dtype != o[3].dtype) return shapes(op, "y of the element type of x");
  return "";
}

}  // namespace tbem::runtime::detail
