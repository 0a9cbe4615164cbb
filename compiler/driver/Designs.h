// The designs of a program: factors, array, rows. What every command beyond `check` works on.
#pragma once

#include "compiler/design/ArrayChoice.h"
#include "compiler/design/Factors.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Workspace.h"
#include "compiler/graph/Elaborate.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbem::driver {

/// A design with its array. `array` has one column a factor; row i of the design is row i of the array.
struct DesignRun {
  graph::DesignSpec spec;
  design::Array array;
  std::vector<design::Factor> factors;
  std::unique_ptr<graph::Experiment> experiment;

  /// The level indices of a row.
  std::vector<std::uint32_t> levels(std::size_t row) const;
  /// {"batch": 4, "depth": 11, "optimizer": "sgd(lr: 0.01)"} in order of declaration.
  std::string levelsJson(std::size_t row) const;
  /// "batch=4 depth=11".
  std::string levelsText(std::size_t row) const;
};

/// All designs that the options ask for, with their arrays. Mistakes and refusals go to the session; a design that has one is left
/// out.
std::vector<std::unique_ptr<DesignRun>> makeDesigns(Workspace& workspace, const Options& options);

/// The rows of a design that `--at` picks: all without it. Nothing, after a diagnostic, where it names no row of the array but
/// legal levels: then `extra` holds the level indices of the one row asked for.
struct RowChoice {
  std::vector<std::size_t> rows;
  bool failed = false;
};
RowChoice chooseRows(const DesignRun& run, const Options& options);

}  // namespace tbem::driver
