#include "compiler/design/model/ArrayText.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace tbem::design;

namespace {

const std::vector<Factor> kFactors{{"batch", {4, 8}, {"4", "8"}}, {"depth", {11, 13, 16}, {"11", "13", "16"}}};

Array read(const std::string& text, const std::vector<Factor>& factors = kFactors) {
  ArrayTextChoice choice = readArray(text, factors);
  if (const auto* fault = std::get_if<ArrayTextFault>(&choice)) ADD_FAILURE() << fault->cause;
  return std::holds_alternative<Array>(choice) ? std::get<Array>(choice) : Array{};
}
ArrayTextFault faultOf(const std::string& text, const std::vector<Factor>& factors = kFactors) {
  ArrayTextChoice choice = readArray(text, factors, 3);
  if (std::holds_alternative<Array>(choice)) ADD_FAILURE() << "no fault in " << text;
  return std::holds_alternative<Array>(choice) ? ArrayTextFault{} : std::get<ArrayTextFault>(choice);
}

TEST(ArrayText, HeaderInAnyOrderAndNone) {
  const std::vector<std::uint32_t> cells{0, 2, 1, 0};
  EXPECT_EQ(read("batch,depth\n4,16\n8,11\n").cells, cells);
  EXPECT_EQ(read("depth , batch\r\n16,4\r\n\r\n11,8").cells, cells);
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "4,16\n8,11\n")
                .cells,
            cells);
  EXPECT_EQ(read("\"4\", 16.0\r8,1.1e1\r").cells, cells);
}

TEST(ArrayText, NumbersOfLevelsWhereACellIsNoLevel) {
  EXPECT_EQ(read("0,2\n1,0\n").cells, (std::vector<std::uint32_t>{0, 2, 1, 0}));
  const std::vector<Factor> both{{"a", {1, 0}, {"1", "0"}}, {"b", {0, 1, 2}, {"0", "1", "2"}}};
  EXPECT_EQ(read("0,1\n1,2\n", both).cells, (std::vector<std::uint32_t>{1, 1, 0, 2})) << "levels go before their numbers";
}

TEST(ArrayText, FaultsHaveTheirPlace) {
  const auto expect = [](const std::string& text, std::size_t begin, std::size_t end, const std::string& cause) {
    const ArrayTextFault fault = faultOf(text);
    EXPECT_EQ(fault.begin, begin) << text;
    EXPECT_EQ(fault.end, end) << text;
    EXPECT_EQ(fault.cause, cause) << text;
    EXPECT_FALSE(fault.wayOut.empty());
  };
  expect("batch,depth\n4,11\n4,12\n", 19, 21, "`12` is no level of `depth`");
  expect("0,1\n1,3\n", 6, 7, "`3` is the number of no level of `depth`");
  expect("batch,width\n", 6, 11, "`width` is no factor of the design");
  expect("batch,batch\n", 6, 11, "`batch` has a column already");
  expect("batch\n4\n", 5, 5, "`depth` has no column");
  expect("4,11\n4;11\n", 5, 9, "this line has 1 field, the design has 2 factors");
  expect("4,11,\n", 0, 5, "this line has 3 fields, the design has 2 factors");
  expect("4,\"11\n", 2, 3, "this quote has no end");
  expect("4,\"11\"1\n", 6, 7, "behind a field in quotes stands more");
  expect("4,1\"1\n", 3, 4, "a quote stands inside a field that does not begin with one");
  expect("batch,depth\n", 0, 0, "it has no rows");
  expect("", 0, 0, "it has no rows");
  expect("0,0\n0,0\n0,0\n0,0\n", 12, 15, "more than 3 rows");
}

}  // namespace
