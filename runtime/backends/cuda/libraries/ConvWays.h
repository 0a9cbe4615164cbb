// The ways to compute a convolution or a gradient of it: by one of cuDNN's engines, or, where the kernel is one pixel, as a
// matrix product. Inside libraries/ only.
#pragma once

#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tbem::cuda {

/// Which operand is which.
struct ConvRoles {
  cudnn::Pass pass;
  int image, weight, output;
};
ConvRoles convRoles(int primitive);

cudnn::Convolution problemOf(const tbem_op_desc& op);

/// A problem whose padding is the same on both sides, as engines of cuDNN's need not be right otherwise (engine 1 of 9.19 is not
/// for weights' gradients): what padding is more on one side lies in a copy of the image.
struct EvenProblem {
  cudnn::Convolution problem;           ///< of the copy, where there is one
  std::array<std::int64_t, 4> extra{};  ///< zeros around the image: top, left, bottom, right
  bool copies() const { return extra != std::array<std::int64_t, 4>{}; }
};
EvenProblem evenProblem(const cudnn::Convolution& problem);

/// A copy that only moves elements of images, in `images` of so many channels: from `from` to `to` rows and columns.
struct ImageMove {
  std::int32_t dtype = TBEM_F32;
  std::int64_t planes = 1;  ///< images times channels
  std::array<std::int64_t, 2> from{}, to{};
  std::array<std::int64_t, 2> start{};     ///< of the smaller in the larger
  std::array<std::int64_t, 2> step{1, 1};  ///< between the smaller's elements in the larger
  std::uint64_t bytesTo() const;
};
/// Puts the smaller into the larger, with zeros around and between.
tl::expected<std::unique_ptr<Op>, std::string> spreadOf(const ImageMove& move);
/// Takes the smaller out of the larger.
tl::expected<std::unique_ptr<Op>, std::string> cutOf(const ImageMove& move);

/// What a way needs and how it is prepared.
struct ConvWay {
  std::uint64_t workspace = 0;
  std::string implementation;
};

/// By an engine. Errors, in words, of cuDNN.
ConvWay engineWay(const tbem_op_desc& op, const cudnn::Engine& engine);
tl::expected<std::unique_ptr<Op>, std::string> prepareEngine(const tbem_op_desc& op, const cudnn::Engine& engine);

/// Whether it is a matrix product for each image: one pixel, no padding, no groups.
bool isProduct(const cudnn::Convolution& problem);
ConvWay productWay(const tbem_op_desc& op);
tl::expected<std::unique_ptr<Op>, std::string> prepareProduct(const tbem_op_desc& op);

/// y[n, channels, ..] += bias, where conv2d has one.
tbem_status addConvBias(const tbem_op_desc& op, void* const* memory);

/// Bytes so that what comes behind them is aligned as a workspace is.
constexpr std::uint64_t alignedBytes(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace tbem::cuda
