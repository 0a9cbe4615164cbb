// Estimates of a design's rows from shapes alone: nothing is lowered, no device is asked.
//
// A structure is elaborated once. Where it serves enough rows its estimate becomes native code over the levels
// (estimate/Formulas.h, jit/rows/RowKernel.h); what that leaves open is computed row by row in exact arithmetic, with equal
// results.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/experiment/designs/Designs.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace tbem::driver {

/// Rows of a structure from which on native code pays: compiling it takes as long as 500 to 800 rows in exact arithmetic, looked
/// at twice (test/bench/rows.cpp).
constexpr std::size_t kLeastCompiled = 512;

class PlainRows {
public:
  /// Of the rows that `run` has chosen; all arguments outlive this. `leastCompiled`: rows from which on a structure is worth
  /// native code.
  PlainRows(DiagnosticSink& sink, DesignRun& run, const estimate::Convention& convention,
            std::size_t leastCompiled = kLeastCompiled);
  ~PlainRows();
  PlainRows(const PlainRows&) = delete;
  PlainRows& operator=(const PlainRows&) = delete;

  /// Elaborates what is needed and looks at the conditions of every row. False where one is broken, which was reported.
  bool check();
  using Visit = std::function<void(std::size_t row, const graph::Graph& graph, estimate::Estimate estimate)>;
  /// Of every row, in order, after `check`; a row without an estimate is told and left out.
  void each(const Visit& visit);
  /// Rows that native code answered for, since the last call of `check` or `each` began.
  std::size_t compiledRows() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::driver
