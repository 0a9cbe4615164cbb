// Arrays of strength 3 that stand on small tables.
#include "compiler/design/field/SpecialArrays.h"

#include <array>
#include <string_view>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// 2^6 5: for each of five levels the eight vectors of GF(2)^3, a column being the product with one of six vectors or its
/// negative (a minus). Three columns whose vectors add to 0 are out of balance there; over the five levels the signs cancel.
/// Found by a search.
constexpr std::array<std::array<int, 6>, 5> kForty{
    {{1, 2, 3, 4, 5, 6}, {-1, -2, -3, -5, -6, -4}, {1, 2, 5, 6, 3, -4}, {1, 2, 6, 4, -3, 5}, {-1, -6, -2, -4, -5, 3}}};

Array forty() {
  Array array = blankArray(40, {2, 2, 2, 2, 2, 2, 5}, 3);
  for (std::uint32_t r = 0; r < 40; ++r) {
    for (std::uint32_t c = 0; c < 6; ++c) {
      const int vector = kForty[r / 8][c];
      const auto product = static_cast<std::uint32_t>(vector < 0 ? -vector : vector) & (r % 8);
      array.at(r, c) = static_cast<std::uint32_t>(__builtin_popcount(product) & 1) ^ (vector < 0 ? 1U : 0U);
    }
    array.at(r, 6) = r / 8;
  }
  return array;
}

/// 2^4 3 4: for each of the twelve combinations of the wide columns four rows, in which a column is one of the three balanced
/// patterns a, b, c or its negative (A, B, C). Found by a SAT solver.
constexpr std::array<std::string_view, 4> kFortyEight{"aaaaaaaaaaaa", "aaAACCbcAAaa", "CCBCBBCBcCcb", "cBcCBbCbbCCC"};

Array fortyEight() {
  constexpr std::array<std::string_view, 3> kPatterns{"0011", "0101", "0110"};
  Array array = blankArray(48, {2, 2, 2, 2, 3, 4}, 3);
  for (std::uint32_t r = 0; r < 48; ++r) {
    for (std::uint32_t c = 0; c < 4; ++c) {
      const char letter = kFortyEight[c][r / 4];
      const bool negative = letter < 'a';
      const char bit = kPatterns[static_cast<std::size_t>(letter - (negative ? 'A' : 'a'))][r % 4];
      array.at(r, c) = static_cast<std::uint32_t>(bit - '0') ^ (negative ? 1U : 0U);
    }
    array.at(r, 4) = r / 16;
    array.at(r, 5) = r / 4 % 4;
  }
  return array;
}

/// 2^9 3: for each of three levels eight rows of eight columns and their negatives. The ninth column of two levels is 0 in the
/// first four rows and their negatives. Within a level the rows make a Hadamard matrix M of order 8, so pairs are balanced; three
/// columns that the negation leaves out of balance are those with the ninth: M' D M, D its signs, and the three add up to 0.
/// Found by a search for three symmetric orthogonal matrices that do.
constexpr std::array<std::array<std::string_view, 8>, 3> kNegated{
    {{"00000000", "01101001", "01010101", "00110011", "00111100", "01011010", "01100110", "00001111"},
     {"00011000", "01110010", "00101110", "01001011", "01000100", "00100001", "01111101", "00010111"},
     {"01100100", "01011110", "00111101", "00000111", "00010000", "00101010", "01001001", "01110011"}}};

Array negatedFortyEight() {
  Levels levels(9, 2);
  levels.push_back(3);
  Array array = blankArray(48, std::move(levels), 3);
  for (std::uint32_t r = 0; r < 48; ++r) {
    const std::uint32_t level = r / 16, row = r / 2 % 8, negative = r % 2;
    for (std::uint32_t c = 0; c < 8; ++c) array.at(r, c) = static_cast<std::uint32_t>(kNegated[level][row][c] - '0') ^ negative;
    array.at(r, 8) = row / 4;
    array.at(r, 9) = level;
  }
  return array;
}

/// 2^6 4^4: rows (x, y, z) over Z4, with x + y + z, and six functions of degree two in the bits of x, y, z; bit 16 x + 4 y + z of
/// a number is a value. They are a clique among the six such functions that are balanced where two of the four columns are given.
constexpr std::array<std::uint64_t, 6> kQuadratic{0xa55a'aa55'5aa5'55aa, 0xaa55'5aa5'55aa'a55a, 0x9696'c3c3'6969'3c3c,
                                                  0xc3c3'6969'3c3c'9696, 0x9c63'639c'9c63'639c, 0xc639'39c6'c639'39c6};

Array sixtyFour() {
  Levels levels(6, 2);
  levels.insert(levels.end(), 4, 4);
  Array array = blankArray(64, std::move(levels), 3);
  for (std::uint32_t r = 0; r < 64; ++r) {
    for (std::uint32_t c = 0; c < 6; ++c) array.at(r, c) = static_cast<std::uint32_t>(kQuadratic[c] >> r & 1);
    const std::uint32_t x = r / 16, y = r / 4 % 4, z = r % 4;
    array.at(r, 6) = x;
    array.at(r, 7) = y;
    array.at(r, 8) = z;
    array.at(r, 9) = (x + y + z) % 4;
  }
  return array;
}

/// 2 3^5: eighteen rows, of which the first nine have level 0 of the first column, developed over Z3; the fifth column of three
/// levels is that of development. Found by a SAT solver.
constexpr std::array<std::string_view, 4> kFiftyFour{"000111222000111222", "012012012201102012", "212110200100202121",
                                                     "102210021120210012"};

Array fiftyFour() {
  Array array = blankArray(54, {2, 3, 3, 3, 3, 3}, 3);
  for (std::uint32_t r = 0; r < 54; ++r) {
    array.at(r, 0) = r / 27;
    for (std::uint32_t c = 0; c < 4; ++c)
      array.at(r, 1 + c) = (static_cast<std::uint32_t>(kFiftyFour[c][r / 3] - '0') + r % 3) % 3;
    array.at(r, 5) = r % 3;
  }
  return array;
}

}  // namespace

std::vector<BaseArray> specialArraysOfStrengthThree(std::uint64_t runs) {
  if (runs == 40)
    return {{runs, {{2, 6}, {5, 1}}, "signed planes of PG(2, 2) for each of 5 levels", [](const Columns&) {
               return std::optional(forty());
             }}};
  if (runs == 48)
    return {{runs,
             {{2, 4}, {3, 1}, {4, 1}},
             "balanced quadruples of rows for 3 x 4 levels",
             [](const Columns&) { return std::optional(fortyEight()); }},
            {runs, {{2, 9}, {3, 1}}, "Hadamard matrices of order 8 and their negatives for each of 3 levels", [](const Columns&) {
               return std::optional(negatedFortyEight());
             }}};
  if (runs == 54)
    return {{runs, {{2, 1}, {3, 5}}, "18 rows developed over Z3", [](const Columns&) { return std::optional(fiftyFour()); }}};
  if (runs == 64)
    return {{runs, {{2, 6}, {4, 4}}, "sums over Z4 and functions of degree two", [](const Columns&) {
               return std::optional(sixtyFour());
             }}};
  return {};
}

}  // namespace tbem::design
