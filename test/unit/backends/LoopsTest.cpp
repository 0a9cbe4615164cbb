// The inner loops are compiled three times, and a machine runs one of them: here the others are compared with it.
#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/loops/PoolLoops.h"
#include "runtime/core/Bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tbem::cpu {

#define TBEM_LOOPS(isa)                                                                          \
  namespace isa {                                                                                \
  void channelStrip(ChannelSum what, int width, const StripArguments& arguments);                \
  void poolPlane(PoolLoop loop, int width, const runtime::Pool2d& pool, const PoolPlane& plane); \
  }
TBEM_LOOPS(generic)
TBEM_LOOPS(avx2)
TBEM_LOOPS(avx512)

namespace {

struct Set {
  const char* name;
  decltype(&generic::channelStrip) channel;
  decltype(&generic::poolPlane) pool;
};

std::vector<Set> sets() {
  std::vector<Set> all = {{"generic", generic::channelStrip, generic::poolPlane}};
  if (__builtin_cpu_supports("x86-64-v3")) all.push_back({"avx2", avx2::channelStrip, avx2::poolPlane});
  if (__builtin_cpu_supports("x86-64-v4")) all.push_back({"avx512", avx512::channelStrip, avx512::poolPlane});
  return all;
}

std::vector<float> values(std::size_t count, unsigned seed, float shift = 0) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(count);
  for (float& x : v) x = normal(engine) + shift;
  return v;
}

class Strips : public testing::TestWithParam<int> {};
class Loops : public testing::TestWithParam<int> {};

TEST_P(Strips, SumsAgreeWithPlainSumsInF64) {
  const int width = GetParam();
  struct Shape {
    std::int64_t images, places;
  };
  for (const auto& [images, places] :
       {Shape{1, 1}, {1, 3}, {1, 4}, {1, 255}, {1, 256}, {1, 257}, {1, 1000}, {5, 9}, {60, 9}, {2, 255}, {3, 300}}) {
    const std::int64_t rows = images * places, stride = width + 5, imageStride = places * stride + 7;
    const auto count = static_cast<std::size_t>(images * imageStride);
    // Far from zero: the mean of squares minus the square of the mean would have no correct digit.
    const auto a = values(count, 1, 1000), b = values(count, 2), mean = values(kWideStrip, 3);
    const auto at = [&, places = places](std::int64_t r, int lane) {
      return static_cast<std::size_t>(r / places * imageStride + r % places * stride + lane);
    };
    for (const Set& set : sets()) {
      for (const ChannelSum what : {ChannelSum::Sum, ChannelSum::Moments, ChannelSum::Gradient}) {
        if (width == kWideStrip && what != ChannelSum::Sum) continue;
        double out[2 * kWideStrip];
        set.channel(what, width, {a.data(), b.data(), mean.data(), places, stride, out, 0, false, images, imageStride});
        for (int lane = 0; lane < width; ++lane) {
          double sum = 0, squares = 0, product = 0;
          for (std::int64_t r = 0; r < rows; ++r) sum += static_cast<double>(a[at(r, lane)]);
          const double centre = sum / static_cast<double>(rows);
          double size = 1;
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::size_t i = at(r, lane);
            squares += std::pow(static_cast<double>(a[i]) - centre, 2);
            product += static_cast<double>(a[i]) *
                       (static_cast<double>(b[i]) - static_cast<double>(mean[static_cast<std::size_t>(lane)]));
            size += std::fabs(static_cast<double>(a[i]) * static_cast<double>(b[i]));
          }
          const double first = what == ChannelSum::Sum ? sum : what == ChannelSum::Moments ? centre : product;
          const double second = what == ChannelSum::Sum ? 0 : what == ChannelSum::Moments ? squares : sum;
          EXPECT_NEAR(out[2 * lane], first, what == ChannelSum::Gradient ? 1e-5 * size : 1e-6 * std::fabs(first))
              << set.name << " " << rows;
          EXPECT_NEAR(out[2 * lane + 1], second, what == ChannelSum::Moments ? 1e-4 * squares + 1e-9 : 1e-6 * std::fabs(second))
              << set.name << " " << rows;
        }
      }
    }
  }
}

/// bf16 is widened to f32 before anything is computed: sums of equal numbers differ by no more than the compiler's choice of
/// fused multiply-adds.
TEST_P(Strips, NarrowElementsGiveTheSumsOfTheirValues) {
  const int width = GetParam();
  const std::int64_t rows = 300, stride = width + 5, offset = 3;
  const auto count = static_cast<std::size_t>(rows * stride + offset);
  auto a = values(count, 6), b = values(count, 7);
  const auto mean = values(kWideStrip, 8);
  std::vector<runtime::Bfloat16> narrowA, narrowB;
  for (float& x : a) narrowA.emplace_back(x), x = static_cast<float>(narrowA.back());
  for (float& x : b) narrowB.emplace_back(x), x = static_cast<float>(narrowB.back());
  for (const Set& set : sets()) {
    for (const ChannelSum what : {ChannelSum::Sum, ChannelSum::Moments, ChannelSum::Gradient}) {
      if (width == kWideStrip && what != ChannelSum::Sum) continue;
      double wide[2 * kWideStrip], narrow[2 * kWideStrip];
      set.channel(what, width, {a.data(), b.data(), mean.data(), rows, stride, wide, offset, false});
      set.channel(what, width, {narrowA.data(), narrowB.data(), mean.data(), rows, stride, narrow, offset, true});
      for (int i = 0; i < 2 * width; ++i) EXPECT_NEAR(wide[i], narrow[i], 1e-4) << set.name << " " << i;
    }
  }
}

/// The same of pooling: a gradient is summed in f32 and rounded once.
TEST_P(Loops, NarrowPoolingRoundsOnce) {
  const int width = GetParam();
  const runtime::Pool2d p{1, width, 9, 8, 5, 4, 3, 3, 2, 2, 1, 1, false};
  const auto places = static_cast<std::size_t>(p.h * p.w * width), results = static_cast<std::size_t>(p.oh * p.ow * width);
  auto x = values(places, 9), dy = values(results, 10);
  std::vector<runtime::Bfloat16> narrowX, narrowDy;
  for (float& v : x) narrowX.emplace_back(v), v = static_cast<float>(narrowX.back());
  for (float& v : dy) narrowDy.emplace_back(v), v = static_cast<float>(narrowDy.back());
  for (const Set& set : sets()) {
    for (const PoolLoop loop : {PoolLoop::Max, PoolLoop::MaxGradient, PoolLoop::Average, PoolLoop::AverageGradient}) {
      std::vector<float> y(results), dx(places), sums(places);
      std::vector<runtime::Bfloat16> narrowY(results), narrowDx(places);
      set.pool(loop, width, p, {x.data(), dy.data(), y.data(), dx.data(), nullptr, width, false});
      set.pool(loop, width, p, {narrowX.data(), narrowDy.data(), narrowY.data(), narrowDx.data(), sums.data(), width, true});
      for (std::size_t i = 0; i < results; ++i) EXPECT_EQ(runtime::Bfloat16(y[i]).bits, narrowY[i].bits) << set.name << " " << i;
      for (std::size_t i = 0; i < places; ++i) EXPECT_EQ(runtime::Bfloat16(dx[i]).bits, narrowDx[i].bits) << set.name << " " << i;
    }
  }
}

TEST_P(Loops, PoolingGivesEqualBitsWhereItOnlyChooses) {
  const int width = GetParam();
  const runtime::Pool2d p{1, width, 9, 8, 5, 4, 3, 3, 2, 2, 1, 1, false};
  const auto places = static_cast<std::size_t>(p.h * p.w * width), results = static_cast<std::size_t>(p.oh * p.ow * width);
  auto x = values(places, 4);
  x[7] = std::nanf("");
  const auto dy = values(results, 5);
  std::vector<std::vector<float>> outcomes;
  for (const Set& set : sets()) {
    std::vector<float> y(results), dx(places);
    PoolPlane plane;
    plane.x = x.data(), plane.dy = dy.data(), plane.y = y.data(), plane.dx = dx.data(), plane.point = width;
    set.pool(PoolLoop::Max, width, p, plane);
    set.pool(PoolLoop::MaxGradient, width, p, plane);
    for (const float v : y) EXPECT_TRUE(v > -100 || std::isnan(v));
    y.insert(y.end(), dx.begin(), dx.end());
    outcomes.push_back(y);
  }
  for (std::size_t s = 1; s < outcomes.size(); ++s) {
    for (std::size_t i = 0; i < outcomes[0].size(); ++i) {
      EXPECT_TRUE(outcomes[s][i] == outcomes[0][i] || (std::isnan(outcomes[s][i]) && std::isnan(outcomes[0][i])))
          << sets()[s].name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Strips, testing::Values(kWideStrip, 16, 8, 4, 1));
INSTANTIATE_TEST_SUITE_P(Widths, Loops, testing::Values(16, 8, 4, 1));

}  // namespace
}  // namespace tbem::cpu
