// Rules of element types of the primitives.
#include "runtime/core/NarrowFloat.h"
#include "runtime/core/Primitive.h"
#include "runtime/core/ShapeRules.h"

#include <fmt/format.h>

namespace tbem::runtime {
namespace detail {
std::string checkTypes(const tbem_op_desc& op) {
  const bool rows = op.primitive == TBEM_PRIMITIVE_split_rows || op.primitive == TBEM_PRIMITIVE_move_rows;
  if (op.primitive == TBEM_PRIMITIVE_reorder || rows) return "";  // checkRows looks at the lists
  const Signature& s = signature(static_cast<tbem_primitive>(op.primitive));
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& o = op.operands[k];
    if (!o.present) continue;
    const bool wider = isNarrow(op.operands[0].dtype) && o.dtype == TBEM_F32 && s.mayBeF32(k);
    const bool fits =
        k == s.index ? o.dtype == TBEM_I64 : wider || (o.dtype == op.operands[0].dtype && (s.moves || tbem_is_floating(o.dtype)));
    if (k == 0 && !fits && k != s.index)
      return fmt::format("{}: operand 0 has the element type {}, which is not floating (`cast(x, to: f32)` makes one that is)",
                         s.name, dtypeName(o.dtype));
    if (!fits) {
      return fmt::format("{}: element type {} of operand {} does not go with {}", s.name, dtypeName(o.dtype), k,
                         dtypeName(k == s.index ? static_cast<int>(TBEM_I64) : op.operands[0].dtype));
    }
  }
  return "";
}
}  // namespace detail

}  // namespace tbem::runtime
