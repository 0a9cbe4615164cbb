// Element-wise expressions over real numbers, one element at a time: no element types, no rounding but f64's. What the types of a
// fused loop do is in Loop.h.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tbem::oracle {

/// Calls body(coordinates) for every element in row-major order; once for a scalar, never where a dimension is 0.
template <class Body>
void forEach(const std::vector<std::int64_t>& dims, Body body) {
  for (const std::int64_t dim : dims) {
    if (dim == 0) return;
  }
  std::vector<std::int64_t> at(dims.size(), 0);
  while (true) {
    body(at);
    std::size_t k = dims.size();
    while (k > 0 && ++at[k - 1] == dims[k - 1]) at[--k] = 0;
    if (k == 0) return;
  }
}

/// Where an operand is read for the element `at`: an axis of -1, and a dimension of 1, stays at 0.
inline std::vector<std::int64_t> operandCoordinates(const std::vector<std::int32_t>& axes, const std::vector<std::int64_t>& dims,
                                                    const std::vector<std::int64_t>& at) {
  std::vector<std::int64_t> own(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) own[k] = axes[k] < 0 || dims[k] == 1 ? 0 : at[static_cast<std::size_t>(axes[k])];
  return own;
}

inline std::size_t rowMajor(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& at) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < dims.size(); ++k)
    number = number * static_cast<std::size_t>(dims[k]) + static_cast<std::size_t>(at[k]);
  return number;
}

/// A node that has operands or is a constant; truth is 1 and 0. Inputs, scalars, random numbers and indices are the caller's.
inline double realValue(const graph::ElemNode& node, double a, double b, double c) {
  using graph::ElemOp;
  switch (node.op) {
    case ElemOp::Constant:
      return node.value.toDouble();
    case ElemOp::Add:
      return a + b;
    case ElemOp::Sub:
      return a - b;
    case ElemOp::Mul:
      return a * b;
    case ElemOp::Div:
      return a / b;
    case ElemOp::Neg:
      return -a;
    case ElemOp::Minimum:
      return std::fmin(a, b);
    case ElemOp::Maximum:
      return std::fmax(a, b);
    case ElemOp::Abs:
      return std::fabs(a);
    case ElemOp::Exp:
      return std::exp(a);
    case ElemOp::Log:
      return std::log(a);
    case ElemOp::Sqrt:
      return std::sqrt(a);
    case ElemOp::Rsqrt:
      return 1 / std::sqrt(a);
    case ElemOp::Pow:
      return std::pow(a, b);
    case ElemOp::Tanh:
      return std::tanh(a);
    case ElemOp::Erf:
      return std::erf(a);
    case ElemOp::Sin:
      return std::sin(a);
    case ElemOp::Cos:
      return std::cos(a);
    case ElemOp::Floor:
      return std::floor(a);
    case ElemOp::Equal:
      return a == b ? 1 : 0;
    case ElemOp::Less:
      return a < b ? 1 : 0;
    case ElemOp::LessEqual:
      return a <= b ? 1 : 0;
    case ElemOp::And:
      return a != 0 && b != 0 ? 1 : 0;
    case ElemOp::Or:
      return a != 0 || b != 0 ? 1 : 0;
    case ElemOp::Not:
      return a == 0 ? 1 : 0;
    case ElemOp::Select:
      return a != 0 ? b : c;
    case ElemOp::Cast:
      return node.dtype == TBEM_I64 || node.dtype == TBEM_I32 ? std::trunc(a) : a;
    default:
      throw std::logic_error("a node that only its caller knows");
  }
}

}  // namespace tbem::oracle
