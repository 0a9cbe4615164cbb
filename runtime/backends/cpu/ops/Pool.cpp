// Pooling over windows and adaptive bins, forward and backward, in row-major, channels-last and channel-blocked layouts.
#include "runtime/backends/cpu/loops/PoolLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/View.h"

#include <cstdio>

#include <omp.h>

namespace tbem::cpu {
namespace {

PoolLoop loopOf(int primitive) {
  switch (primitive) {
    case TBEM_PRIMITIVE_max_pool2d:
      return PoolLoop::Max;
    case TBEM_PRIMITIVE_max_pool2d_gradient:
      return PoolLoop::MaxGradient;
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
      return PoolLoop::Average;
    default:
      return PoolLoop::AverageGradient;
  }
}

/// Which operands are the image and the result (or their gradients).
struct Sides {
  int image, result;
};

Sides sidesOf(int primitive) {
  switch (loopOf(primitive)) {
    case PoolLoop::Max:
    case PoolLoop::Average:
      return {0, 1};
    case PoolLoop::MaxGradient:
      return {2, 0};
    default:
      return {1, 0};
  }
}

/// A row-major tensor of one place an image has two readings; take the one with as many lanes as the other side.
bool views(const tbem_op_desc& op, ChannelView& image, ChannelView& result) {
  const Sides sides = sidesOf(op.primitive);
  if (!channelView(op.operands[sides.image], image) || !channelView(op.operands[sides.result], result)) return false;
  const auto asLast = [](ChannelView& view) {
    if (view.points != 1 || !view.plain()) return;
    view.lanes = view.point = view.block = view.channels;
    view.blocks = 1;
  };
  if (image.lanes != result.lanes && result.lanes == 1) asLast(result);
  if (image.lanes != result.lanes && image.lanes == 1) asLast(image);
  return image.lanes == result.lanes;
}

/// Floats in which a thread sums the gradient of 16 channels of an image of bf16.
std::int64_t sumsOf(const runtime::Pool2d& pool) { return 16 * pool.h * pool.w; }

class Pool final : public Op {
public:
  explicit Pool(const tbem_op_desc& from) : Op(from), loop_(loopOf(desc.primitive)), pool_(runtime::pool2d(desc)) {
    views(desc, image_, result_);
  }

  tbem_status run(void* const* memory, void* work, const double*) override {
    const std::int64_t groups = (image_.lanes + 15) / 16, tasks = image_.n * image_.blocks * groups;
    parallelFor(threads, tasks, image_.n * image_.image, [&](std::int64_t task) {
      const std::int64_t n = task / (image_.blocks * groups), block = task / groups % image_.blocks, group = task % groups;
      const int thread = threads == 1 ? 0 : omp_get_thread_num();  // alone it may be any thread of those outside
      auto* const sums = static_cast<float*>(work) + thread * sumsOf(pool_);
      lanes(memory, work != nullptr ? sums : nullptr, n, block, group * 16,
            group + 1 == groups ? image_.lanes : (group + 1) * 16);
    });
    const bool forward = loop_ == PoolLoop::Max || loop_ == PoolLoop::Average;
    zeroPadding(forward ? result_ : image_, memory[operands.size() - 1], bytes_);
    return TBEM_OK;
  }

private:
  /// Channels [lane, end) of one block of one image.
  void lanes(void* const* memory, float* sums, std::int64_t n, std::int64_t block, std::int64_t lane, std::int64_t end) const {
    const std::int64_t image = n * image_.image + block * image_.block, result = n * result_.image + block * result_.block;
    while (lane < end) {
      const int width = end - lane >= 16 ? 16 : end - lane >= 8 ? 8 : end - lane >= 4 ? 4 : 1;
      PoolPlane plane;
      plane.point = image_.point;
      plane.narrow = isNarrow(operands[0]);
      plane.sums = sums;
      const auto at = [&](int k, std::int64_t offset) -> void* {
        return static_cast<char*>(memory[k]) + static_cast<std::uint64_t>(offset + lane) * bytes_;
      };
      switch (loop_) {
        case PoolLoop::Max:
        case PoolLoop::Average:
          plane.x = at(0, image), plane.y = at(1, result);
          break;
        case PoolLoop::MaxGradient:
          plane.dy = at(0, result), plane.x = at(1, image), plane.dx = at(2, image);
          break;
        case PoolLoop::AverageGradient:
          plane.dy = at(0, result), plane.dx = at(1, image);
          break;
      }
      poolPlane(loop_, width, pool_, plane);
      lane += width;
    }
  }

  PoolLoop loop_;
  runtime::Pool2d pool_;
  ChannelView image_, result_;
  std::uint64_t bytes_ = runtime::elementBytes(operands[0].dtype);
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  ChannelView image, result;
  const bool gradient = op.primitive == TBEM_PRIMITIVE_max_pool2d_gradient;
  if (!views(op, image, result) || (gradient && !runtime::sameLayout(op.operands[1], op.operands[2]))) {
    return fail(TBEM_UNSUPPORTED, "cpu: pooling takes row-major, channels-last or channel-blocked images, all operands alike");
  }
  const bool sums = loopOf(op.primitive) == PoolLoop::MaxGradient || loopOf(op.primitive) == PoolLoop::AverageGradient;
  if (sums && isNarrow(op.operands[0]))
    info.workspace = static_cast<std::uint64_t>(threadsOf(op) * sumsOf(runtime::pool2d(op))) * sizeof(float);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:pool");
  return TBEM_OK;
}

}  // namespace

Family poolFamily() { return Family::of<Pool>(query); }

}  // namespace tbem::cpu
