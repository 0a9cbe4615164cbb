// Convolutions by engines of cuDNN's.
#include "runtime/backends/cuda/libraries/ConvWays.h"
#include "runtime/backends/cuda/libraries/Conversion.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::cuda {

namespace {

class EngineConv final : public Op {
public:
  EngineConv(const tbem_op_desc& from, PreparedPlan ready) : Op(from), ready(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const ConvRoles roles = convRoles(desc.primitive);
    void* const gradient = static_cast<char*>(work) + copyBytes;
    void* const space = static_cast<char*>(gradient) + gradientBytes;
    void* const image = copyBytes > 0 ? work : memory[roles.image];
    if (before != nullptr) {
      const std::array<void*, 2> ends{memory[roles.image], work};
      if (const tbem_status status = before->run(ends.data(), nullptr, nullptr)) return status;
    }
    void* const weight = widen != nullptr ? gradient : memory[roles.weight];
    const std::array<void*, 3> tensors{image, weight, memory[roles.output]};
    const std::string why = ready.run(tensors, space);
    if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    if (widen != nullptr) {
      const std::array<void*, 2> ends{gradient, memory[roles.weight]};
      if (const tbem_status status = widen->run(ends.data(), nullptr, nullptr)) return status;
    }
    if (after != nullptr) {
      const std::array<void*, 2> ends{work, memory[roles.image]};
      if (const tbem_status status = after->run(ends.data(), nullptr, nullptr)) return status;
    }
    return addConvBias(desc, memory);
  }

  PreparedPlan ready;
  std::uint64_t copyBytes = 0;        ///< of the padded image, at the workspace's begin
  std::unique_ptr<Op> before, after;  ///< from the image to its copy, and back
  std::uint64_t gradientBytes = 0;    ///< of the weight's gradient in the type that the engine gives, behind the image
  std::unique_ptr<Op> widen;          ///< of that gradient
};

/// cuDNN has no engine (9.19: none for compute capabilities 8.0 and 9.0) that reads bf16 and gives a weight's gradient in f32:
/// it is rounded to bf16, and then widened.
bool widens(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_conv2d_weight_gradient && op.operands[2].dtype != op.operands[0].dtype;
}

std::uint64_t gradientBytesOf(const tbem_op_desc& op) {
  const auto elements = static_cast<std::uint64_t>(runtime::elementCount(op.operands[2]));
  return widens(op) ? alignedBytes(elements * runtime::elementBytes(op.operands[0].dtype)) : 0;
}

ImageMove moveOf(const cudnn::Convolution& problem, const EvenProblem& even) {
  return {.dtype = problem.dtype,
          .planes = problem.n * problem.c,
          .from = {problem.h, problem.w},
          .to = {even.problem.h, even.problem.w},
          .start = {even.extra[0], even.extra[1]}};
}

}  // namespace

EvenProblem evenProblem(const cudnn::Convolution& problem) {
  EvenProblem even{problem, {}};
  cudnn::Convolution& p = even.problem;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (p.pad[axis] == p.pad[axis + 2]) continue;
    // Steps may end before the last padding, or leave room for more.
    p.pad[axis + 2] = p.pad[axis];
    if (p.y() == problem.y()) continue;
    const std::int64_t common = std::min(problem.pad[axis], problem.pad[axis + 2]);
    even.extra[axis] = problem.pad[axis] - common;
    even.extra[axis + 2] = problem.pad[axis + 2] - common;
    p.pad[axis] = p.pad[axis + 2] = common;
    (axis == 0 ? p.h : p.w) += even.extra[axis] + even.extra[axis + 2];
  }
  return even;
}

ConvWay engineWay(const tbem_op_desc& op, const cudnn::Engine& engine) {
  const cudnn::Convolution problem = problemOf(op);
  const EvenProblem even = evenProblem(problem);
  const std::string notes = cudnn::notesOf(engine);
  return {(even.copies() ? alignedBytes(moveOf(problem, even).bytesTo()) : 0) + gradientBytesOf(op) + engine.workspace,
          fmt::format("cuDNN engine {}{}{}", engine.index, notes.empty() ? "" : ", ", notes)};
}

tl::expected<std::unique_ptr<Op>, std::string> prepareEngine(const tbem_op_desc& op, const cudnn::Engine& engine) {
  const cudnn::Convolution problem = problemOf(op);
  const EvenProblem even = evenProblem(problem);
  auto ready = PreparedPlan::prepare({even.problem, hasTf32(op)}, engine);
  if (!ready) return tl::unexpected(ready.error());
  auto conv = std::make_unique<EngineConv>(op, std::move(*ready));
  if (even.copies()) {
    const ImageMove move = moveOf(problem, even);
    const bool back = problem.pass == cudnn::Pass::DataGradient;
    auto copy = back ? cutOf(move) : spreadOf(move);
    if (!copy) return tl::unexpected(copy.error());
    conv->copyBytes = alignedBytes(move.bytesTo());
    (back ? conv->after : conv->before) = std::move(*copy);
  }
  if (widens(op)) {
    auto widen = conversionOf(problem.dtype, op.operands[2].dtype, runtime::elementCount(op.operands[2]));
    if (!widen) return tl::unexpected(widen.error());
    conv->gradientBytes = gradientBytesOf(op);
    conv->widen = std::move(*widen);
  }
  return conv;
}

}  // namespace tbem::cuda
