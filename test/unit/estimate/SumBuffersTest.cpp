// Sums over the rows of a matrix: sizes that PyTorch 2.15 itself allocates beside `torch.empty(rows, columns,
// device="cuda").sum(0)`, its allocator and kernels' launches on a stand-in for the card (test/pytorch/allocator; 132
// multiprocessors of 2048 threads).
#include "compiler/pytorch/eager/SumBuffers.h"

#include <gtest/gtest.h>

namespace tbem::estimate {
namespace {

TEST(SumBuffers, AreThoseOfPyTorch) {
  struct Case {
    std::uint64_t rows, columns;
    SumBuffers expected;
  };
  const Case cases[] = {
      {4096, 2048, {67108864, 64}},
      {4096, 1000, {32768000, 32}},
      {1024, 2048, {16777216, 64}},
      {1023, 2048, {16777216, 64}},
      {1000, 16, {}},
      {256, 4096, {}},
      {65536, 10, {20480, 8}},
      {65536, 7, {3584, 8}},
      {3000, 2, {}},
      {70000, 33, {1115136, 8}},
      {2047, 4098, {16785408, 260}},
      {2048, 4098, {16785408, 260}},
      {16384, 3, {}},
      {513, 300, {}},
      {1024, 50257, {}},
      {4096, 50257, {}},
      {100000, 5000, {250880000, 160}},
      {8192, 65536, {268435456, 2048}},
  };
  for (const Case& one : cases)
    EXPECT_EQ(sumBuffers(one.rows, one.columns, 4, {132, 2048}), one.expected) << one.rows << " x " << one.columns;
}

TEST(SumBuffers, AreNoneWithoutAGpuOrOfOneColumn) {
  EXPECT_EQ(sumBuffers(4096, 2048, 4, {}), SumBuffers());
  EXPECT_EQ(sumBuffers(4096, 1, 4, {132, 2048}), SumBuffers());
  EXPECT_EQ(sumBuffers(0, 8, 4, {132, 2048}), SumBuffers());
}

}  // namespace
}  // namespace tbem::estimate
