#include "compiler/graph/ir/Graph.h"

namespace tbem::graph {

int operandCount(ElemOp op) {
  switch (op) {
    case ElemOp::Input:
    case ElemOp::Constant:
    case ElemOp::Scalar:
    case ElemOp::Random:
    case ElemOp::Index:
      return 0;
    case ElemOp::Neg:
    case ElemOp::Abs:
    case ElemOp::Exp:
    case ElemOp::Log:
    case ElemOp::Sqrt:
    case ElemOp::Rsqrt:
    case ElemOp::Tanh:
    case ElemOp::Erf:
    case ElemOp::Sin:
    case ElemOp::Cos:
    case ElemOp::Floor:
    case ElemOp::Not:
    case ElemOp::Cast:
      return 1;
    case ElemOp::Select:
      return 3;
    default:
      return 2;
  }
}

}  // namespace tbem::graph
