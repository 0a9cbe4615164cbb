// An array under constraints: as many of its rows as can stay, others exchanged, and what that costs in numbers.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/rows/Constraints.h"
#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/Verify.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tbem::design {

struct RepairOptions {
  std::uint32_t strength = 2;  ///< of the array, and of the covering array that takes its place where it must
  bool fixedRows = false;      ///< the number of rows was asked for
  std::uint64_t seed = 0;
  double seconds = 1;                                                 ///< bounds the search, as CoveringOptions::seconds does
  std::function<void(std::size_t rows, double share)> progress = {};  ///< as CoveringOptions::progress, where it comes to one
};

/// How the rows were found, from least to most change.
enum class Rung : std::uint8_t {
  Relabelled,  ///< all rows stay: columns of equal levels and labels of levels were permuted
  Exchanged,   ///< lost rows are replaced by valid ones
  Dummy,       ///< the same for an array of more levels, where one too many stands for another (Addelman 1962)
  Larger,      ///< the same for an array with more rows
  Augmented,   ///< a covering array with rows for the model
};

struct Repaired {
  Array array;  ///< its strength is 0 unless Relabelled
  Rung rung{};
  std::string from;          ///< name of the array that it is made of; "" for Augmented
  std::size_t fromRows = 0;  ///< of that array
  std::size_t kept = 0;      ///< of those
  std::size_t lost = 0;      ///< rows of the array as it came that break the constraints
  ModelQuality quality;      ///< of the model at these rows
  double relative = 0;       ///< D-efficiency relative to that of the unconstrained array; 0: that one cannot estimate the model
  Coverage pairs;            ///< pairs of levels in the rows, and all that can stand in a valid row
  std::optional<Coverage> triples;           ///< the same of triples; nothing where they are too many to ask for each
  std::optional<Coincidences> coincidences;  ///< of the rows
  double correlation = 0;  ///< largest absolute one between columns of the model that belong to different factors or products
};

/// Why not: one sentence, lower case, no full stop.
using Repair = std::variant<Repaired, std::string>;

/// `array` is unconstrained, its columns `model`'s factors; some of its rows break `constraints`. Rows of the result are valid
/// and the model can be estimated from them. Climbs from rung to rung until that holds. Deterministic.
Repair repair(const Array& array, const Constraints& constraints, const Basis& model, const RepairOptions& options);

}  // namespace tbem::design
