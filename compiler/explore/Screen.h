// What `tbemc screen` finds, for its report.
#pragma once

#include "compiler/design/verify/Screening.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/estimate/Attribution.h"
#include "runtime/report/Svg.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// One response over the rows of one design.
struct Screened {
  const DesignRun* run = nullptr;
  std::string response;  ///< "static_memory"
  report::Quantity quantity{};
  design::Screening screening;
  std::size_t centre = 0;  ///< the row nearest the middle of all levels: into run->rows
  /// By operator: its share of the response.
  struct Operator {
    std::string name;
    double centre = 0;         ///< amount at the centre row
    double share = 0;          ///< there
    double low = 0, high = 0;  ///< shares over all rows
  };
  std::vector<Operator> operators;  ///< in falling order of the share at the centre
  bool workEnded = false;           ///< the limit of work was reached: not all rows were planned
  std::string noGrid;               ///< why not every combination of levels could be taken; "": they were, or were too many
};

/// Prints the findings on one design: tables with bars on standard output, or one JSON object a response; plots with --out.
/// False where a plot cannot be written, which was said.
bool reportScreening(show::Out& out, const State& state, const std::vector<Screened>& findings);

}  // namespace tbem::driver
