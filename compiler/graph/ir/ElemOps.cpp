#include "compiler/graph/ir/ElemNames.h"

namespace tbem::graph {

int operandCount(ElemOp op) {
  constexpr int kOperands[] = {
#define TBEM_ELEM_OP(enumerator, name, operands) operands,
#include "compiler/graph/ir/ElemOps.def"
  };
  return kOperands[static_cast<std::size_t>(op)];
}

const char* nameOf(ElemOp op) {
  constexpr const char* kNames[] = {
#define TBEM_ELEM_OP(enumerator, name, operands) name,
#include "compiler/graph/ir/ElemOps.def"
  };
  return kNames[static_cast<std::size_t>(op)];
}

}  // namespace tbem::graph
