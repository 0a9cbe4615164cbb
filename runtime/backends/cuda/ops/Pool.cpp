// Pooling over windows and adaptive bins.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Shapes.h"

#include <algorithm>
#include <cstdio>

namespace tbem::cuda {
namespace {

struct Plan {
  runtime::Pool2d pool;
  bool wide;
  std::int64_t channels;  ///< that lie beside each other: 1 in row-major order
  std::int64_t results, elements, groups;
  Tile tile;  ///< of an average's windows
};

/// The largest number that is counted to along an axis: products of both lengths for bins, places in the padding for windows.
std::int64_t farthest(std::int64_t length, std::int64_t windows, std::int64_t kernel, std::int64_t stride) {
  return kernel == 0 ? (windows + 1) * (length + 1) : windows * stride + length + kernel;
}

Plan planOf(const tbem_op_desc& op) {
  // Elements of a window from which some lanes, a warp or a block take it.
  constexpr std::int64_t kSome = 32, kMany = 256, kBlock = 2048;
  const runtime::Pool2d p = runtime::pool2d(op);
  const bool channelsLast = orderOf(op) == ImageOrder::ChannelsLast;
  Plan plan{
      p, false, channelsLast ? p.c : 1, p.n * p.c * p.oh * p.ow, p.n * p.c * p.h * p.w, p.n * p.c * p.h * quotientUp(p.w, kGroup),
      {}};
  const std::int64_t most = std::max({plan.results, plan.elements, p.kh * p.kw, farthest(p.h, p.oh, p.kh, p.strideH) + p.top,
                                      farthest(p.w, p.ow, p.kw, p.strideW) + p.left});
  plan.wide = isWide(most);
  const std::int64_t window =
      p.kh == 0 ? p.h / std::max<std::int64_t>(p.oh, 1) * (p.w / std::max<std::int64_t>(p.ow, 1)) : p.kh * p.kw;
  // Threads down a tile read a window's elements beside each other; with channels last those of threads across are so.
  plan.tile.logDepth = channelsLast ? 0 : window >= kBlock ? 8 : window >= kMany ? 5 : window >= kSome ? 3 : 0;
  return plan;
}

template <class Index>
PoolAxis<Index> axisOf(std::int64_t length, std::int64_t windows, std::int64_t kernel, std::int64_t stride, std::int64_t before) {
  const auto as = [](std::int64_t number) { return static_cast<Index>(number); };
  return {as(length),
          as(windows),
          as(kernel),
          as(stride),
          as(before),
          dividerBy<Index>(length),
          dividerBy<Index>(windows),
          dividerBy<Index>(stride)};
}

/// What an average multiplies by where all windows have as many elements, or 0.
float shareOf(const runtime::Pool2d& p) {
  const auto of = [](std::int64_t elements) { return static_cast<float>(1.0 / static_cast<double>(elements)); };
  if (p.kh == 0) {
    const bool even = p.oh > 0 && p.ow > 0 && p.h % p.oh == 0 && p.w % p.ow == 0 && p.h > 0 && p.w > 0;
    return even ? of(p.h / p.oh * (p.w / p.ow)) : 0;
  }
  const bool inside = p.top == 0 && p.left == 0 && (p.oh - 1) * p.strideH + p.kh <= p.h && (p.ow - 1) * p.strideW + p.kw <= p.w;
  return p.includePad || inside ? of(p.kh * p.kw) : 0;
}

template <class Index>
PoolShape<Index> shapeOf(const Plan& plan) {
  const runtime::Pool2d& p = plan.pool;
  return {axisOf<Index>(p.h, p.oh, p.kh, p.strideH, p.top),
          axisOf<Index>(p.w, p.ow, p.kw, p.strideW, p.left),
          dividerBy<Index>(plan.channels),
          static_cast<Index>(plan.results),
          static_cast<Index>(plan.groups),
          dividerBy<Index>(quotientUp(p.w, kGroup)),
          p.includePad ? 1 : 0,
          shareOf(p)};
}

/// tbem_Pool_NAME_TYPE_BITS.
struct PoolKernel {
  const char *f32, *f32Wide, *bf16, *bf16Wide, *f16, *f16Wide;
  const char* of(std::int32_t type, bool wide) const {
    if (type == TBEM_BF16) return wide ? bf16Wide : bf16;
    if (type == TBEM_F16) return wide ? f16Wide : f16;
    return wide ? f32Wide : f32;
  }
};
#define TBEM_POOL_KERNEL(name)                                                                                                \
  PoolKernel {                                                                                                                \
    "tbem_Pool_" #name "_f32_32", "tbem_Pool_" #name "_f32_64", "tbem_Pool_" #name "_bf16_32", "tbem_Pool_" #name "_bf16_64", \
        "tbem_Pool_" #name "_f16_32", "tbem_Pool_" #name "_f16_64"                                                            \
  }

class Pool final : public Op {
public:
  explicit Pool(const tbem_op_desc& from)
      : Op(from), plan_(planOf(desc)), narrow_(shapeOf<std::uint32_t>(plan_)), large_(shapeOf<std::uint64_t>(plan_)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const void* const first = memory[0];
    void* const second = memory[1];
    const std::int64_t across = kThreads >> plan_.tile.logDepth;
    switch (desc.primitive) {
      case TBEM_PRIMITIVE_max_pool2d:
        return start(TBEM_POOL_KERNEL(max), blocksFor(plan_.results), first, second);
      case TBEM_PRIMITIVE_max_pool2d_gradient: {
        const void* const x = memory[1];
        if (const tbem_status status = start(TBEM_POOL_KERNEL(places), blocksFor(plan_.results), x, work)) return status;
        return start(TBEM_POOL_KERNEL(maxGradient), blocksFor(plan_.groups), first, static_cast<const void*>(work), memory[2]);
      }
      case TBEM_PRIMITIVE_avg_pool2d:
      case TBEM_PRIMITIVE_adaptive_avg_pool2d:
        return start(TBEM_POOL_KERNEL(average), static_cast<std::uint32_t>(quotientUp(plan_.results, across)), plan_.tile, first,
                     second);
      default:
        return start(TBEM_POOL_KERNEL(averageGradient), blocksFor(plan_.groups), first, second);
    }
  }

private:
  template <class... Parameters>
  tbem_status start(const PoolKernel& kernel, std::uint32_t blocks, Parameters... parameters) const {
    if (blocks == 0) return TBEM_OK;
    const Grid grid{blocks, kThreads};
    const char* const name = kernel.of(operands[0].dtype, plan_.wide);
    return plan_.wide ? launch({"Pool", name}, grid, large_, parameters...)
                      : launch({"Pool", name}, grid, narrow_, parameters...);
  }

  Plan plan_;
  PoolShape<std::uint32_t> narrow_;
  PoolShape<std::uint64_t> large_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = imageLayouts(op)) return status;
  const Plan plan = planOf(op);
  const bool places = op.primitive == TBEM_PRIMITIVE_max_pool2d_gradient;  // where each window's maximum is
  info.workspace = places ? static_cast<std::uint64_t>(plan.results) * (plan.wide ? 8 : 4) : 0;
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:pool");
  return TBEM_OK;
}

}  // namespace

Family poolFamily() { return Family::of<Pool>(query); }

}  // namespace tbem::cuda
