// The smallest sizes that are known (the catalogue of R's DoE.base, whose sources are Kuhfeld's and the literature's; for
// strength three A. E. Brouwer's tables), and what is built, counted by this file's own means.
#include "compiler/design/choose/ArrayChoice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

using namespace tbem::design;

namespace {

using Levels = std::vector<std::uint32_t>;

/// "2^1 3^7" -> {2, 3, 3, 3, 3, 3, 3, 3}
Levels read(const std::string& text) {
  Levels levels;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto hat = word.find('^');
    const auto s = static_cast<std::uint32_t>(std::stoul(word.substr(0, hat)));
    levels.insert(levels.end(), std::stoul(word.substr(hat + 1)), s);
  }
  return levels;
}

/// Whether every choice of `t` columns from `first` on, with the rows already told apart by `keys`, is balanced. Counts in a map.
bool balanced(const Array& array, std::uint32_t t, std::size_t first, const std::vector<std::uint64_t>& keys,
              std::uint64_t cells) {
  if (t == 0) {
    std::map<std::uint64_t, std::size_t> counts;
    for (const std::uint64_t key : keys) ++counts[key];
    return counts.size() == cells &&
           std::all_of(counts.begin(), counts.end(), [&](const auto& entry) { return entry.second * cells == array.runs; });
  }
  for (std::size_t c = first; c + t <= array.levels.size(); ++c) {
    std::vector<std::uint64_t> next(keys);
    for (std::size_t r = 0; r < array.runs; ++r) next[r] = next[r] * array.levels[c] + array.cells[r * array.levels.size() + c];
    if (!balanced(array, t - 1, c + 1, next, cells * array.levels[c])) return false;
  }
  return true;
}

struct Row {
  std::size_t runs;
  const char* levels;
};

void expectSizes(std::initializer_list<Row> rows, std::uint32_t strength) {
  for (const Row& row : rows) {
    const Levels levels = read(row.levels);
    const Choice choice = chooseArray(levels, strength);
    const auto* array = std::get_if<Array>(&choice);
    if (array == nullptr) {
      ADD_FAILURE() << row.levels << ": " << std::get<Refusal>(choice).reason;
      continue;
    }
    EXPECT_EQ(array->runs, row.runs) << row.levels << ", " << array->construction;
    EXPECT_EQ(array->levels, levels) << row.levels;
    ASSERT_EQ(array->cells.size(), array->runs * levels.size()) << row.levels;
    EXPECT_TRUE(balanced(*array, strength, 0, std::vector<std::uint64_t>(array->runs, 0), 1)) << row.levels;
  }
}

}  // namespace

TEST(KnownSizes, StrengthTwoEqualLevels) {
  expectSizes(
      {{4, "2^3"},    {8, "2^7"},    {12, "2^11"},   {16, "2^15"},  {20, "2^19"},  {24, "2^23"},   {32, "2^31"},  {9, "3^4"},
       {18, "3^7"},   {27, "3^13"},  {54, "3^25"},   {81, "3^40"},  {108, "3^49"}, {243, "3^121"}, {16, "4^5"},   {32, "4^9"},
       {48, "4^13"},  {64, "4^21"},  {128, "4^41"},  {256, "4^85"}, {25, "5^6"},   {50, "5^11"},   {100, "5^21"}, {125, "5^31"},
       {36, "6^3"},   {72, "6^7"},   {49, "7^8"},    {98, "7^15"},  {108, "6^11"}, {64, "8^9"},    {128, "8^17"}, {81, "9^10"},
       {162, "9^19"}, {100, "10^4"}, {121, "11^12"}, {144, "12^7"}},
      2);
}

TEST(KnownSizes, StrengthTwoMixedLevels) {
  expectSizes({{8, "2^4 4^1"},        {12, "2^2 6^1"},      {12, "2^4 3^1"},          {16, "2^12 4^1"},     {16, "2^9 4^2"},
               {16, "2^6 4^3"},       {16, "2^3 4^4"},      {16, "2^8 8^1"},          {18, "2^1 3^7"},      {18, "3^6 6^1"},
               {20, "2^8 5^1"},       {20, "4^1 5^1"},      {24, "2^20 4^1"},         {24, "2^13 3^1 4^1"}, {24, "2^11 4^1 6^1"},
               {24, "2^1 3^1 4^1"},   {27, "3^9 9^1"},      {32, "2^4 4^9"},          {32, "4^8 8^1"},      {32, "2^16 16^1"},
               {36, "2^11 3^12"},     {36, "3^12 12^1"},    {36, "3^4 4^1"},          {36, "2^1 3^8"},      {36, "2^1 3^3 6^3"},
               {36, "2^10 3^8 6^1"},  {45, "3^9 15^1"},     {48, "4^12 12^1"},        {50, "2^1 5^11"},     {54, "2^1 3^25"},
               {54, "3^18 18^1"},     {72, "2^10 3^4 6^6"}, {72, "2^5 3^3 4^1 6^7"},  {108, "2^3 3^4 6^8"}, {108, "2^2 3^3 6^9"},
               {108, "2^1 3^2 6^10"}, {108, "3^1 6^11"},    {120, "2^1 3^1 4^1 5^1"}, {144, "2^2 3^2 4^2"}, {144, "3^5 4^2"}},
              2);
}

TEST(KnownSizes, StrengthThree) {
  expectSizes({{8, "2^4"},      {16, "2^8"},     {24, "2^12"},     {32, "2^16"},     {40, "2^20"},        {48, "2^24"},
               {64, "2^32"},    {27, "3^4"},     {54, "3^5"},      {54, "2^1 3^5"},  {81, "3^10"},        {64, "4^6"},
               {125, "5^6"},    {343, "7^8"},    {512, "8^9"},     {729, "9^10"},    {243, "3^20"},       {256, "4^17"},
               {24, "2^4 3^1"}, {24, "2^3 6^1"}, {32, "2^4 4^2"},  {32, "2^7 4^1"},  {32, "2^3 8^1"},     {36, "2^2 3^2"},
               {40, "2^6 5^1"}, {48, "2^9 3^1"}, {48, "2^11 4^1"}, {48, "2^7 6^1"},  {48, "2^4 3^1 4^1"}, {64, "2^7 8^1"},
               {64, "2^2 4^5"}, {64, "2^6 4^4"}, {64, "2^12 4^2"}, {64, "2^15 4^1"}, {72, "2^11 6^1"},    {80, "2^19 4^1"}},
              3);
}

TEST(KnownSizes, StrengthFourAndFive) {
  expectSizes({{81, "3^5"},
               {243, "3^11"},
               {256, "4^5"},
               {625, "5^6"},
               {1024, "4^11"},
               {2401, "7^8"},
               {6561, "9^10"},
               {128, "2^15"},
               {256, "2^19"}},
              4);
  expectSizes({{243, "3^6"}, {729, "3^12"}, {1024, "4^6"}, {4096, "4^12"}, {256, "2^16"}}, 5);
}
