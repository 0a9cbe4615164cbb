#include "compiler/show/measured/PredictionReport.h"

#include "compiler/diagnostics/tables/Run.h"
#include "compiler/show/Out.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tbem::driver {

namespace {

Json coordinateJson(const design::Factor& factor, double value) {
  if (std::isnan(value)) return {};
  if (!factor.numeric()) return factor.labels[static_cast<std::size_t>(value)];
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

void printPrediction(show::Out& out, const Predicted& predicted) {
  const PredictionPlan& plan = *predicted.plan;
  const Fitted& fitted = *predicted.fitted;
  const regress::Prediction& prediction = predicted.prediction;
  const std::string& name = plan.regression->decl->name.text;
  if (out.display.json) {
    Json levels = Json::object();
    const std::vector<design::Factor> factors = plan.regression->run->factors();
    for (std::size_t f = 0; f < factors.size(); ++f) levels[factors[f].name] = coordinateJson(factors[f], plan.point[f]);
    Json interval;
    if (prediction.interval) interval = Json::array({prediction.interval->low, prediction.interval->high});
    out.json("predict", {{"name", name},
                         {"backend", fitted.place.backend},
                         {"tune", fitted.place.tune},
                         {"examples", fitted.place.examples},
                         {"levels", levels},
                         {"value", prediction.value},
                         {"interval", interval},
                         {"inside", prediction.inside}});
    return;
  }
  const report::Quantity quantity = plan.regression->quantity;
  out.print("predict {} at {} on {}: {}", name, plan.where, fitted.place.text(), quantityText(quantity, prediction.value));
  if (prediction.interval) {
    out.print(" (95 % of new rows between {} and {})", quantityText(quantity, prediction.interval->low),
              quantityText(quantity, prediction.interval->high));
  }
  out.print("{}\n", prediction.inside ? "" : ", outside the measured region");
}

}  // namespace

void printPredictions(show::Out& out, const std::vector<Predicted>& predicted) {
  for (const Predicted& each : predicted) printPrediction(out, each);
}

}  // namespace tbem::driver
