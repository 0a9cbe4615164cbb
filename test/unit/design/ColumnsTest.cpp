#include "compiler/design/array/Columns.h"

#include "compiler/design/array/Random.h"

#include <gtest/gtest.h>

#include <map>

namespace tbem::design {
namespace {

using Plain = std::map<std::uint32_t, std::uint64_t>;

void expectSame(const Columns& columns, const Plain& plain) {
  ASSERT_EQ(columns.size(), plain.size());
  auto at = plain.begin();
  std::uint64_t freedoms = 0, even = 0;
  for (const auto& [levels, count] : columns) {
    EXPECT_EQ(levels, at->first);
    EXPECT_EQ(count, at->second);
    freedoms += (levels - 1) * count;
    even += levels % 2 == 0 ? (levels - 1) * count : 0;
    ++at;
  }
  EXPECT_EQ(columns.empty(), plain.empty());
  EXPECT_EQ(columns.freedoms(), freedoms);
  EXPECT_EQ(columns.freedomsOver(2), even);
}

bool holds(const Plain& outer, const Plain& inner) {
  for (const auto& [levels, count] : inner) {
    const auto at = outer.find(levels);
    if (at == outer.end() || at->second < count) return false;
  }
  return true;
}

// Short lists stand in place and longer ones do not: lists grow over that length and shrink below it.
TEST(Columns, AreAMap) {
  Random random(1);
  Columns columns, other;
  Plain plain, otherPlain;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t levels = 2 + random.below(12), count = 1 + random.below(3);
    const bool grows = step / 40 % 2 == 0;
    if (grows || plain.count(levels) == 0) {
      if (grows) plain[levels] += count;
      if (grows) columns.add(levels, count);
    } else {
      const std::uint64_t some = std::min<std::uint64_t>(plain[levels], count);
      columns.remove(levels, some);
      if ((plain[levels] -= some) == 0) plain.erase(levels);
    }
    expectSame(columns, plain);
    EXPECT_EQ(columns.contains(other), holds(plain, otherPlain));
    EXPECT_EQ(other.contains(columns), holds(otherPlain, plain));
    EXPECT_EQ(columns == other, plain == otherPlain);
    if (random.below(5) != 0) continue;
    other = columns;
    otherPlain = plain;
    EXPECT_TRUE(other == columns);
    EXPECT_EQ(ColumnsHash{}(other), ColumnsHash{}(columns));
  }
}

}  // namespace
}  // namespace tbem::design
