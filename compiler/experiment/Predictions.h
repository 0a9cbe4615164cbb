// The `predict` declarations of a program: read and checked before anything is measured, evaluated afterwards.
#pragma once

#include "compiler/experiment/Regressions.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// A point at which a regression is evaluated.
struct PredictionPlan {
  const RegressionPlan* regression = nullptr;
  design::Point point;
  std::string where;  ///< as written: "{batch: 64, depth: 16}"
  SrcRange range;     ///< of the point; none for --at
};

/// The program's predictions, or with --at that point for every regression. Mistakes of the program go to the session. `usage`:
/// why --at gives no point, "" where it does.
struct Predictions {
  std::vector<PredictionPlan> plans;
  std::string usage;
};
Predictions readPredictions(Workspace& workspace, const std::vector<RegressionPlan>& regressions, const std::string& point);

/// What a regression says at a point.
struct Predicted {
  const PredictionPlan* plan = nullptr;
  const Fitted* fitted = nullptr;
  regress::Prediction prediction;
};
/// Every point on every backend that its regression was fitted on; both must outlive the result. Refusals, and points outside
/// what was measured, are told in the session.
std::vector<Predicted> predictAll(Workspace& workspace, const std::vector<PredictionPlan>& plans,
                                  const std::vector<Fitted>& fits);

}  // namespace tbem::driver
