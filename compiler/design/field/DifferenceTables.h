// Difference schemes that no formula here gives. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tbem::design {

/// One scheme: a string a column, a letter a row; '0' .. '9', 'a' .. are the elements of LevelGroup.
struct DifferenceTable {
  std::uint32_t rows = 0, levels = 0, columns = 0;
  std::array<std::string_view, 12> cells;
};

/// Sizes: Seberry 1979 (twelve rows over three and four levels), Johnson, Dulmage and Mendelsohn 1961 (twelve over twelve; this
/// is Hanani's form of 1975, lemma 3.21, whose group Z2 x Z6 is written as Z2 x Z2 x Z3 here), Masuyama 1957 and Wang and Wu 1991
/// (the others). All but the third were found by a clique search over the balanced columns.
inline constexpr std::array<DifferenceTable, 5> kDifferenceTables{{
    {12,
     3,
     12,
     {"000000000000", "000011112222", "012101201202", "020120212101", "012220110210", "001202211120", "010022021112",
      "022111020120", "002102122011", "021012200211", "011221002021", "021210121002"}},
    {12,
     4,
     12,
     {"000000000000", "000111222333", "010233123210", "031321203120", "013212300321", "003023312112", "031132010232",
      "032103132021", "022310113302", "023031231201", "021302321013", "012220031133"}},
    {12, 12, 6, {"000000000000", "06824a17935b", "0198763b45a2", "02163b89a475", "096ba3258714", "04b58791362a"}},
    {15,
     3,
     9,
     {"000000000000000", "000001111122222", "011220101220210", "012110012022012", "021101220012210", "002121202121100",
      "020210212110201", "020122011211020", "002110120201221"}},
    {15,
     5,
     8,
     {"000000000000000", "000111222333444", "010434123420123", "024224410133130", "012042014343321", "002143431124203",
      "043301234214120", "034132144231002"}},
}};

/// D(4q, 4q, q) of quadratic forms (Dawson 1985): row (i, x), column (j, y) holds a x^2 + b x y + c y^2, with the coefficients of
/// block (i, j) over GF(q). Found by a search over the coefficients.
struct FormTable {
  std::uint32_t levels = 0;
  std::array<std::array<std::uint8_t, 4>, 4> a, b, c;
};
inline constexpr std::array<FormTable, 2> kFormTables{{
    {5,
     {{{0, 2, 4, 1}, {0, 1, 2, 3}, {0, 3, 4, 2}, {0, 1, 3, 4}}},
     {{{1, 1, 1, 1}, {1, 1, 3, 3}, {1, 3, 1, 2}, {1, 3, 2, 4}}},
     {{{0, 1, 4, 4}, {1, 4, 3, 2}, {2, 2, 1, 3}, {3, 0, 0, 1}}}},
    {7,
     {{{0, 6, 3, 2}, {0, 4, 3, 5}, {0, 3, 2, 5}, {0, 1, 2, 4}}},
     {{{1, 1, 1, 1}, {1, 3, 3, 4}, {1, 4, 3, 6}, {1, 6, 2, 6}}},
     {{{0, 5, 3, 1}, {1, 1, 6, 5}, {2, 6, 2, 6}, {3, 2, 4, 4}}}},
}};

}  // namespace tbem::design
