// The loops in which the time goes: over convolutions, and over the coefficients of linear forms. Internal to this folder.
#pragma once

#include "compiler/certify/Steps.h"

#include <cstdint>

namespace tbem::certify {

/// y += x convolved with `weights`, which are laid out as Convolution::weights; the bias has no part in it.
void convolve(const Convolution& c, const double* weights, const double* x, double* y);

/// dx += the transpose of that of dy, which is 0 outside of `window`; the part of the image that dx differs from 0 in.
/// Multiply-adds are added to `products`.
Window convolveBack(const Convolution& c, const double* dy, const Window& window, double* dx, std::int64_t& products);

/// What is added to a form's constant, in as many sums as a vector has lanes, and the sizes of what was added.
struct Lanes {
  static constexpr int kCount = 8;
  double value[kCount] = {}, absolute[kCount] = {};
};

// Each takes n coefficients in a row. Where a value lies between two lines, a positive coefficient takes the one below.

/// next += factor * form.
void handOn(std::int64_t n, const double* form, double factor, double* next);
/// form * (low or high).
void endIn(std::int64_t n, const double* form, const double* low, const double* high, Lanes& sums);
/// -|form| * slack.
void takeOff(std::int64_t n, const double* form, const double* slack, Lanes& sums);
/// next += scale * form; form * shift.
void throughAffine(std::int64_t n, const double* form, const double* scale, const double* shift, double* next, Lanes& sums);
/// next += (low or high) * form.
void throughLines(std::int64_t n, const double* form, const double* low, const double* high, double* next);

}  // namespace tbem::certify
