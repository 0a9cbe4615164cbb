// Convolutions by engines of cuDNN's.
#include "runtime/backends/cuda/libraries/ConvWays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::cuda {

namespace {

class EngineConv final : public Op {
public:
  EngineConv(const tbem_op_desc& from, PreparedConvolution ready) : Op(from), ready(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const ConvRoles roles = convRoles(desc.primitive);
    void* const space = static_cast<char*>(work) + copyBytes;
    void* const image = copyBytes > 0 ? work : memory[roles.image];
    if (before != nullptr) {
      const std::array<void*, 2> ends{memory[roles.image], work};
      if (const tbem_status status = before->run(ends.data(), nullptr, nullptr)) return status;
    }
    const std::string why = ready.run({image, memory[roles.weight], memory[roles.output], space});
    if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    if (after != nullptr) {
      const std::array<void*, 2> ends{work, memory[roles.image]};
      if (const tbem_status status = after->run(ends.data(), nullptr, nullptr)) return status;
    }
    return addConvBias(desc, memory);
  }

  PreparedConvolution ready;
  std::uint64_t copyBytes = 0;        ///< of the padded image, at the workspace's begin
  std::unique_ptr<Op> before, after;  ///< from the image to its copy, and back
};

ImageMove moveOf(const cudnn::Convolution& problem, const EvenProblem& even) {
  return {.planes = problem.n * problem.c,
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
  return {(even.copies() ? alignedBytes(moveOf(problem, even).bytesTo()) : 0) + engine.workspace,
          fmt::format("cuDNN engine {}{}{}", engine.index, notes.empty() ? "" : ", ", notes)};
}

tl::expected<std::unique_ptr<Op>, std::string> prepareEngine(const tbem_op_desc& op, const cudnn::Engine& engine) {
  const cudnn::Convolution problem = problemOf(op);
  const EvenProblem even = evenProblem(problem);
  auto ready = PreparedConvolution::prepare(even.problem, engine);
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
  return conv;
}

}  // namespace tbem::cuda
