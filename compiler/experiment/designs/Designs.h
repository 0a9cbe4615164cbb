// The designs of a program: factors, array, rows. What every command beyond `check` works on.
#pragma once

#include "compiler/backends/Tuning.h"
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/cover/Covering.h"
#include "compiler/design/cover/Repair.h"
#include "compiler/design/model/Factors.h"
#include "compiler/emit/OrderedJson.h"
#include "compiler/experiment/Request.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/support/Events.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

using LevelIndices = std::vector<std::uint32_t>;

/// What `filter` leaves of a design: each row that breaks a condition, and what their going does to the array.
struct Filtering {
  struct Row {
    std::size_t row = 0;
    std::string condition;  ///< what it breaks: "`conv2d` needs `h >= 3`"
    std::string code;       ///< "E0302"
  };
  std::vector<Row> rows;     ///< that are left out, ascending
  std::string from;          ///< the array as it was
  std::size_t fromRows = 0;  ///< of that
  std::uint32_t strength = 0, strengthBefore = 0;
  design::Coverage pairs, pairsBefore;
  std::optional<design::Imbalance> imbalance;  ///< the largest of a level or a pair
  design::ModelQuality model, modelBefore;     ///< of the regression's model, else of all main effects
};

/// A design with its array. Not movable: the experiment refers to the spec.
struct DesignRun {
  graph::DesignSpec spec;
  design::Array array;                            ///< one column a factor
  design::Constraints constraints;                ///< what its `where`s forbid
  std::optional<design::Covering> covering;       ///< what is known of a covering array; its rows are `array`'s
  std::optional<design::Repaired> repaired;       ///< what is known where rows of an orthogonal array were exchanged
  std::optional<Filtering> filtered;              ///< what is known where `filter` left rows out
  std::vector<LevelIndices> rows;                 ///< the array's rows; behind them, a row that `--at` asked for and no array has
  std::vector<std::size_t> chosen;                ///< rows that `--at` and the array give: what the command works on
  std::unique_ptr<graph::Experiment> experiment;  ///< null for a design without `of`
  Tuning tuning;                                  ///< --tune, else the clause of its `measure` or `train`, else off
  bool keepsOutputs = false;                      ///< the network's results stay readable after a training step
  const DesignRun* storagesOf = nullptr;          ///< of one row: weights lie as they do in this one's, which was lowered before
  bool oneThread = false;                         ///< it runs on one thread, whatever the options say: others run beside it

  explicit DesignRun(graph::DesignSpec spec) : spec(std::move(spec)) {}
  DesignRun(const DesignRun&) = delete;
  DesignRun& operator=(const DesignRun&) = delete;

  /// The factors as the array's analysis and regressions see them: numeric where every level is a number.
  std::vector<design::Factor> factors() const;
  /// {"batch": 4, "depth": 11, "optimizer": "sgd(lr: 0.01)"} in order of declaration.
  Json levels(std::size_t row) const;
  /// The same of a combination of levels that is no row.
  Json levels(const LevelIndices& indices) const;
  /// "batch=4 depth=11".
  std::string levelsText(std::size_t row) const;
};

struct Designs {
  std::vector<std::unique_ptr<DesignRun>> runs;
  std::vector<std::string> usage;  ///< what the command line asks for and is not there
};
/// The designs that the options ask for, with their arrays and the rows that `--at` picks. Mistakes and refusals go to the
/// session; a design that has one is left out.
Designs makeDesigns(Workspace& workspace, const Request& request, Events& events);

/// What the command line says of every experiment.
graph::ExperimentOptions experimentOptions(const Target& target);

/// The design's network at all levels; what it refers to must outlive it.
std::unique_ptr<graph::Experiment> makeExperiment(Workspace& workspace, const graph::DesignSpec& spec, const Target& target);

/// The level's position; a number that is no level yet becomes one more, but for nested factors.
std::optional<std::uint32_t> levelOf(graph::DesignSpec& spec, graph::FactorSpec& factor, const std::string& text);

/// The row's graph and numbers; nothing after a diagnostic that names its levels.
std::optional<graph::Row> elaborateRow(DesignRun& run, std::size_t row);

}  // namespace tbem::driver
