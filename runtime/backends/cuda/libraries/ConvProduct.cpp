// Convolutions by a kernel of one pixel as matrix products: y[n] = weight x[n], where an image has its channels as rows. Where
// the kernel steps over pixels, a copy holds those that it meets.
#include "runtime/backends/cuda/libraries/ConvWays.h"
#include "runtime/backends/cuda/libraries/Sum.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::cuda {

namespace {

bool steps(const cudnn::Convolution& problem) { return problem.stride != std::array<std::int64_t, 2>{1, 1}; }

/// Between images and the pixels of them that the kernel meets.
ImageMove metPixels(const cudnn::Convolution& problem) {
  return {.dtype = problem.dtype,
          .planes = problem.n * problem.c,
          .from = {problem.y()[2], problem.y()[3]},
          .to = {problem.h, problem.w},
          .step = problem.stride};
}

std::uint64_t copyBytes(const cudnn::Convolution& problem) {
  const std::uint64_t bytes = runtime::elementBytes(problem.dtype);
  const auto y = problem.y();
  return steps(problem) ? alignedBytes(static_cast<std::uint64_t>(problem.n * problem.c * y[2] * y[3]) * bytes) : 0;
}

/// Of all images: the weight and then the images, or what is made of them.
ProductShape imagesShape(const cudnn::Convolution& problem, bool tf32) {
  const std::int64_t pixels = problem.y()[2] * problem.y()[3];
  const bool forward = problem.pass == cudnn::Pass::Forward;
  ProductShape shape;
  shape.factors = shape.result = problem.dtype;
  shape.tf32 = tf32;
  shape.m = forward ? problem.out : problem.c;
  shape.k = forward ? problem.c : problem.out;
  shape.n = pixels;
  shape.transposeA = !forward;
  if (problem.n > 1) shape.batch = {problem.n, 0, shape.k * pixels, shape.m * pixels};
  return shape;
}

/// The weight's gradient: the sum over images of dy[n] x[n]^T.
SumShape weightShape(const tbem_op_desc& op, const cudnn::Convolution& problem) {
  const std::int64_t pixels = problem.y()[2] * problem.y()[3];
  ProductShape first;
  first.factors = problem.dtype;
  first.result = op.operands[2].dtype;
  first.tf32 = hasTf32(op);
  first.m = problem.out, first.k = pixels, first.n = problem.c;
  first.transposeB = true;
  return sumOf(first, problem.n, problem.out * pixels, problem.c * pixels);
}

class ProductConv final : public Op {
public:
  explicit ProductConv(const tbem_op_desc& from) : Op(from) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const ConvRoles roles = convRoles(desc.primitive);
    void* const images = copied > 0 ? work : memory[roles.image];
    if (copied > 0 && roles.pass != cudnn::Pass::DataGradient) {
      const std::array<void*, 2> ends{memory[roles.image], work};
      if (const tbem_status status = move->run(ends.data(), nullptr, nullptr)) return status;
    }
    if (const tbem_status status = multiply(roles, memory, images, static_cast<char*>(work) + copied)) return status;
    if (copied > 0 && roles.pass == cudnn::Pass::DataGradient) {
      const std::array<void*, 2> ends{work, memory[roles.image]};
      if (const tbem_status status = move->run(ends.data(), nullptr, nullptr)) return status;
    }
    return addConvBias(desc, memory);
  }

  std::optional<PreparedProduct> product;  ///< forward, and of images' gradients
  std::optional<PreparedSum> sum;          ///< of weights' gradients
  std::uint64_t copied = 0;                ///< bytes of the met pixels, at the workspace's begin
  std::unique_ptr<Op> move;

private:
  tbem_status multiply(const ConvRoles& roles, void* const* memory, void* images, void* space) {
    if (sum) return sum->run(memory[roles.output], images, memory[roles.weight], space);
    const Device* device = nullptr;
    if (const tbem_status status = openDevice(device)) return status;
    const bool forward = roles.pass == cudnn::Pass::Forward;
    void* const factor = forward ? images : memory[roles.output];
    void* const result = forward ? memory[roles.output] : images;
    const std::string why = product->run(*device, {memory[roles.weight], factor, nullptr, result, nullptr});
    return why.empty() ? TBEM_OK : fail(TBEM_FAILED, fmt::format("cuda: {}", why));
  }
};

}  // namespace

bool isProduct(const cudnn::Convolution& problem) {
  return problem.kernel == std::array<std::int64_t, 2>{1, 1} && problem.pad == std::array<std::int64_t, 4>{} &&
         problem.groups == 1;
}

ConvWay productWay(const tbem_op_desc& op) {
  const cudnn::Convolution problem = problemOf(op);
  const std::uint64_t copy = copyBytes(problem);
  if (problem.pass != cudnn::Pass::WeightGradient) return {copy, "cuBLASLt"};
  const SumShape shape = weightShape(op, problem);
  return {copy + sumWorkspace(shape), fmt::format("cuBLASLt, {} parts", shape.parts())};
}

tl::expected<std::unique_ptr<Op>, std::string> prepareProduct(const tbem_op_desc& op) {
  const cudnn::Convolution problem = problemOf(op);
  auto conv = std::make_unique<ProductConv>(op);
  if (problem.pass == cudnn::Pass::WeightGradient) {
    auto sum = PreparedSum::prepare(weightShape(op, problem));
    if (!sum) return tl::unexpected(sum.error());
    conv->sum.emplace(std::move(*sum));
  } else {
    auto product = PreparedProduct::prepare(imagesShape(problem, hasTf32(op)), 0);
    if (!product) return tl::unexpected(product.error());
    conv->product.emplace(std::move(*product));
  }
  conv->copied = copyBytes(problem);
  if (conv->copied > 0) {
    auto move = problem.pass == cudnn::Pass::DataGradient ? spreadOf(metPixels(problem)) : cutOf(metPixels(problem));
    if (!move) return tl::unexpected(move.error());
    conv->move = std::move(*move);
  }
  return conv;
}

}  // namespace tbem::cuda
