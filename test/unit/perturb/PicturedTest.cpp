// Which examples a page shows.
#include "runtime/perturb/Pictured.h"
#include "test/unit/perturb/Toy.h"

#include <gtest/gtest.h>

namespace tbem::perturb {
namespace {

using namespace toy;

Series seriesOf(const std::vector<std::pair<std::int64_t, double>>& raised) {
  Series series;
  for (const auto& [example, by] : raised) {
    Point& point = series.points.emplace_back();
    point.example = example;
    point.flopsBefore = 100;
    point.flops = 100 + by;
  }
  return series;
}

TEST(Pictured, TakesWhatIsRaisedMostAndIsWhole) {
  const World world;
  const Data data({0.125F, 0.25F, 0.375F, 0.5F, 0.625F});
  const std::vector<Series> series = {seriesOf({{0, 10}, {1, 40}, {2, 50}, {3, 20}, {4, 10}}),
                                      seriesOf({{0, 10}, {1, 10}, {3, 30}, {4, 10}})};  // not done with example 2
  const auto all = pictured(world.plan(5), data, series, 3).value();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].example, 1);
  EXPECT_EQ(all[0].numbers, std::vector<float>(kElements, 0.25F));
  EXPECT_EQ(all[0].places, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(all[1].example, 3) << "as much as the former: the first of equal ones comes first";
  EXPECT_EQ(all[1].places, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(all[2].example, 0);
  EXPECT_EQ(all[2].numbers, std::vector<float>(kElements, 0.125F));
  EXPECT_TRUE(pictured(world.plan(5), data, {series[0], Series{}}, 3).value().empty()) << "one method has not begun";
}

}  // namespace
}  // namespace tbem::perturb
