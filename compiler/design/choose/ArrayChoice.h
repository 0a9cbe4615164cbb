// The array for a list of levels and a strength: the smallest that we can build, or a refusal that says what would do.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tbem::design {

struct Options {
  bool full = false;                 ///< every combination of levels
  std::optional<std::int64_t> rows;  ///< exactly so many rows
  /// "L16", "L16(4^5)": exactly this array; empty: our choice. Factors may take columns of more levels ("dummy levels", Addelman
  /// 1962): the first levels then stand more often, and the array has strength 0, but contrasts of different factors stay
  /// orthogonal.
  std::string arrayName;
  std::optional<std::uint64_t> seed;  ///< shuffles columns of equal levels and the labels of levels; nothing: the canonical array
  std::size_t maxRows = 1'000'000;    ///< larger arrays are refused
};

/// Something that would work instead.
struct Offer {
  enum class Kind : std::uint8_t { Full, Rows, Levels, Strength, Dummy } kind{};
  std::string text;  ///< "`full`: all 24 rows"
  std::uint64_t runs = 0;
  std::vector<std::uint32_t> levels;  ///< Kind::Levels: the numbers of levels that would work, by factor
};

struct Refusal {
  std::string reason;                  ///< one sentence, lower case, no full stop, as a note of E0401
  std::uint64_t smallestPossible = 0;  ///< no array of fewer rows can exist (divisibility, Rao); 0 where it leaves 64 bits
  std::string boundReason;             ///< "divisibility by 12 and the Rao bound of 8"
  std::vector<Offer> offers;
};

using Choice = std::variant<Array, Refusal>;

/// `levels[i]` >= 1 is the number of levels of factor i; a factor of one level gets a constant column. Every array handed out has
/// been verified by counting. No factors: one row without columns. As many varying factors as `strength` or fewer: the full
/// factorial. Deterministic. `strength` >= 1.
Choice chooseArray(const std::vector<std::uint32_t>& levels, std::uint32_t strength, const Options& options = {});

/// The array of `chooseArray` with at most `maxRows` rows; nothing where there is none, without looking for what to say of it.
std::optional<Array> smallestArray(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRows);

/// All combinations, the last factor fastest. Nothing where the number of rows exceeds `maxRows`.
std::optional<Array> fullFactorial(const std::vector<std::uint32_t>& levels, std::size_t maxRows = 1'000'000);

}  // namespace tbem::design
