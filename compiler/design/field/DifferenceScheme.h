// Difference schemes: small matrices over a group from which arrays of strength 2 grow. Internal to compiler/design.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tbem::design {

/// The group that a column of `levels` levels carries: the product of the groups Z_p over the prime factors p of `levels`,
/// smallest first. An element is a level index, its digits in that mixed base are its components; for a power of a prime the sum
/// is that of Galois.
class LevelGroup {
public:
  explicit LevelGroup(std::uint32_t levels);
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t negate(std::uint32_t a) const;

private:
  std::vector<std::uint32_t> primes;
};

/// D(rows, columns, levels): in the difference of any two columns every element of the group stands rows / levels times (Bose and
/// Bush 1952). Column 0 is 0, so that every other column holds every element equally often. Two columns at least need levels |
/// rows; one column is a scheme of any size.
struct DifferenceScheme {
  std::uint32_t rows = 0, columns = 0, levels = 0;
  std::vector<std::uint32_t> cells;  ///< row-major
  std::uint32_t at(std::uint32_t row, std::uint32_t column) const { return cells[std::size_t{row} * columns + column]; }
};

/// What can be built, remembered: the constructions of one size lean on those of smaller sizes.
class DifferenceSchemes {
public:
  /// The most columns that `build` reaches for rows x levels, at least 1.
  std::uint32_t columns(std::uint32_t rows, std::uint32_t levels);
  /// The scheme with the first `columns` of them, 1 <= columns <= this->columns(rows, levels).
  DifferenceScheme build(std::uint32_t rows, std::uint32_t columns, std::uint32_t levels);

  /// A way to a scheme: of powers of one prime (multiplication table), Hadamard, quadratic forms over GF(levels), a table, the
  /// Kronecker sum or the product over coprime groups of two smaller ones, or zero and each element in turn.
  enum class Way : std::uint8_t { Zero, Two, Field, Hadamard, Forms, Table, KroneckerSum, Product };
  struct Best {
    Way way = Way::Zero;
    std::uint32_t columns = 1;
    std::pair<std::uint32_t, std::uint32_t> first, second;  ///< rows and levels of the parts
  };

private:
  Best best(std::uint32_t rows, std::uint32_t levels);
  std::unordered_map<std::uint64_t, Best> known;  ///< by rows, levels
};

}  // namespace tbem::design
