// Interval arithmetic over one step. Internal to this folder.
#pragma once

#include "compiler/certify/Steps.h"

#include <span>
#include <vector>

namespace tbem::certify {

/// What is known of a step's value.
struct Value {
  Box box;
  /// Of a step that is linear in its inputs (Gather, Convolve, Sums, Affine, Add, Subtract, Negate), by element: how
  /// far the network's number is at most from what the real numbers would give of the network's inputs to the step; and on top,
  /// what a linear form loses that is carried back through the step in f64, for each unit of its coefficient. Empty: 0.
  std::vector<double> slack;
};

/// The network's arithmetic, and how often a coefficient is added to where a linear form is carried back, but for what a step
/// itself does.
struct Losses {
  Arithmetic arithmetic;
  double fanOut = 1;
};

/// The value of any step but Input, Constant, Join; inputs in the step's order. Of operands that are one and the same it makes
/// use.
Value evaluate(const Step& step, std::span<const Box* const> inputs, const Losses& losses);

/// The function of every number of the interval, as the network computes it: error below four units in the last place.
Interval functionOf(graph::ElemOp function, Interval x, const Arithmetic& arithmetic);

/// The largest element of the softmax of n numbers from bounds of the sum of e^(z_j - z_c), where c is the largest of them:
/// 1 / sum, as the network computes it.
Interval confidenceOf(Interval sum, std::size_t n, const Arithmetic& arithmetic);

}  // namespace tbem::certify
