// An array of level indices: the rows of an experiment, before anyone gives the levels a meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tbem::design {

/// A column that has a value only in rows where its parent has one of some levels (a nested factor). Elsewhere its cell is its
/// last level, which stands for no value.
struct Nested {
  std::uint32_t column = 0, parent = 0;
  std::vector<std::uint32_t> under;  ///< levels of the parent, ascending
};

/// `runs` rows of one level index a factor. An orthogonal array OA(runs, levels, strength) where `strength` > 0: in every choice
/// of `strength` columns every combination of levels stands equally often (Rao 1947; Hedayat, Sloane, Stufken, "Orthogonal
/// Arrays", 1999).
struct Array {
  std::vector<std::uint32_t> levels;  ///< levels of each column, at least 1; of a nested one with its absence
  std::vector<std::uint32_t> cells;   ///< row-major, runs x columns; cell < levels[column]
  std::size_t runs = 0;
  std::vector<Nested> nested;  ///< ascending by column
  std::uint32_t strength = 0;  ///< what the construction promises and `verify` confirmed; number of columns for a full factorial
  std::uint32_t replicates = 1;  ///< every distinct row of the construction stands this often
  std::string name;              ///< "L16(4^3)", "full factorial 2 x 3", "one row"
  std::string construction;      ///< "Rao-Hamming over GF(4), columns 1 to 3 of 5"

  std::uint64_t smallestPossible = 0;  ///< no array of the wanted strength has fewer runs; 0: not known, or not asked (`full`)
  std::string smallestBy;              ///< "Rao's bound": what excludes fewer

  std::size_t columns() const { return levels.size(); }
  std::uint32_t at(std::size_t row, std::size_t column) const { return cells[row * columns() + column]; }
  std::uint32_t& at(std::size_t row, std::size_t column) { return cells[row * columns() + column]; }
  std::span<const std::uint32_t> row(std::size_t index) const { return {cells.data() + index * columns(), columns()}; }
};

/// The nesting of a column, or nullptr.
const Nested* nestingOf(std::span<const Nested> nested, std::uint32_t column);
/// Whether the cell stands for no value.
bool isAbsent(const Array& array, std::size_t row, std::uint32_t column);
/// Levels of a column but for its absence.
std::uint32_t valuesOf(const Array& array, std::uint32_t column);

/// All cells 0.
Array blankArray(std::size_t runs, std::vector<std::uint32_t> levels, std::uint32_t strength = 0);

/// "4^3", "2^1 3^7": the levels as the literature writes them, ascending.
std::string levelText(std::span<const std::uint32_t> levels);

}  // namespace tbem::design
