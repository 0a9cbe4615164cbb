#include "compiler/graph/ir/Graph.h"

namespace tbem::graph {

int operandCount(ElemOp op) {
  constexpr int kOperands[] = {
#define TBEM_ELEM_OP(enumerator, name, operands) operands,
#include "compiler/graph/ir/ElemOps.def"
  };
  return kOperands[static_cast<std::size_t>(op)];
}

}  // namespace tbem::graph
