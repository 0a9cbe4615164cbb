// The loops over convolutions, forwards and backwards. Internal to this folder.
#pragma once

#include "compiler/certify/Steps.h"

#include <cstdint>

namespace tbem::certify {

/// y += x convolved with `weights`, which are laid out as Convolution::weights; the bias has no part in it.
void convolve(const Convolution& c, const double* weights, const double* x, double* y);

/// dx += the transpose of that of dy, which is 0 outside of `window`; the part of the image that dx differs from 0 in. Multiply-adds
/// are added to `products`.
Window convolveBack(const Convolution& c, const double* dy, const Window& window, double* dx, std::int64_t& products);

}  // namespace tbem::certify
