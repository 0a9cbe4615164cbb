// Sums over all axes but the second, in any of the three layouts: for batch normalisation and for bias gradients.
#pragma once

#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/ops/View.h"

#include <cstdint>

namespace tbem::cpu {

/// The view for these sums: as channelView, but a row-major tensor with one place an image is seen as one image whose places are
/// the rows, so that channels lie side by side.
bool sumView(const tbem_operand& operand, ChannelView& view);
/// A row-major matrix, a channel a column.
ChannelView matrixView(std::int64_t rows, std::int64_t columns);

/// Tensors of one layout and element type; b may be null.
struct ChannelOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  bool narrow = false;          ///< they hold bf16, not f32
  const float* mean = nullptr;  ///< a value a channel, for Gradient
};

/// Bytes of workspace: two doubles a channel and slice of the tensor. Independent of the number of threads, and so is the result.
std::uint64_t channelWorkspace(const ChannelView& view);

/// Reduces a (and b) and leaves two doubles a channel, as ChannelLoops.h says, in result(channel, pair).
/// Deterministic: slices are joined in order, whatever the threads.
template <class Result>
void channelReduce(ChannelSum what, const ChannelView& view, const ChannelOperands& of, double* work, int threads, Result result);

/// Sums of each image's channels of `a` by themselves: y is row-major [n, channels]. No workspace.
void imageSums(const ChannelView& view, const ChannelOperands& of, float* y, int threads);

namespace detail {
/// Leaves the joined pairs of all channels at the start of `work`.
void channelSums(ChannelSum what, const ChannelView& view, const ChannelOperands& of, double* work, int threads);
}  // namespace detail

template <class Result>
void channelReduce(ChannelSum what, const ChannelView& view, const ChannelOperands& of, double* work, int threads,
                   Result result) {
  detail::channelSums(what, view, of, work, threads);
  for (std::int64_t channel = 0; channel < view.channels; ++channel) result(channel, work + 2 * channel);
}

}  // namespace tbem::cpu
