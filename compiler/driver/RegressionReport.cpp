// Regressions and predictions as tables and JSON.
#include "compiler/design/Aliases.h"
#include "compiler/driver/Regressions.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::driver {

std::string quantityText(report::Quantity quantity, double value) {
  switch (quantity) {
    case report::Quantity::Bytes:
      return value < 0 ? report::signedBytes(value) : report::bytes(static_cast<std::uint64_t>(value));
    case report::Quantity::Seconds:
      return (value < 0 ? "-" : "") + report::seconds(std::abs(value));
    case report::Quantity::Joules:
      return (value < 0 ? "-" : "") + report::joules(std::abs(value));
    case report::Quantity::Flops:
      return (value < 0 ? "-" : "") + report::flops(std::abs(value));
    case report::Quantity::Number:
      return report::number(value, 6);
  }
  return {};
}

namespace {

template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json orNull(const std::optional<regress::Interval>& value) { return value ? Json::array({value->low, value->high}) : Json(); }

void printFitJson(const Fitted& fitted) {
  const regress::Result& r = *fitted.result;
  Json terms = Json::array();
  for (const regress::Coefficient& c : r.coefficients)
    terms.push_back({{"term", c.term}, {"coefficient", c.value}, {"interval", orNull(c.interval)}});
  Json raw = Json::array();
  for (const regress::RawCoefficient& c : r.raw) raw.push_back({{"term", c.term}, {"coefficient", c.value}});
  Json warnings = Json::array();
  for (const regress::Warning& warning : r.warnings) warnings.push_back(warning.text);
  printJson("regress", {{"name", fitted.plan->decl->name.text},
                        {"design", fitted.plan->run->spec.name},
                        {"backend", fitted.backend},
                        {"response", fitted.plan->response},
                        {"terms", terms},
                        {"raw", raw},
                        {"rows", r.rows},
                        {"parameters", r.parameters},
                        {"r2", orNull(r.r2)},
                        {"adjusted_r2", orNull(r.adjustedR2)},
                        {"residual_sd", orNull(r.residualSd)},
                        {"loo_rmse", orNull(r.looRmse)},
                        {"loo_relative_error", orNull(r.looRelativeError)},
                        {"warnings", warnings}});
}

report::Table toTable(const regress::Table& source, std::string title) {
  report::Table table;
  table.title = std::move(title);
  for (const std::string& name : source.header)
    table.columns.push_back({name, table.columns.empty() ? report::Align::Left : report::Align::Decimal});
  for (const std::vector<std::string>& row : source.rows) table.add({row.begin(), row.end()});
  return table;
}

void printFitText(const Fitted& fitted, const Options& options) {
  const regress::Result& r = *fitted.result;
  const report::Quantity quantity = fitted.plan->quantity;
  printTable(options, toTable(regress::coefficientTable(r),
                              fmt::format("{}: {} of {} on {}", fitted.plan->decl->name.text, fitted.plan->response,
                                          fitted.plan->run->spec.name, fitted.backend)));
  printTable(options, toTable(regress::rawTable(r), "the same in the factors' units"));
  fmt::print("{} rows, {} parameters", r.rows, r.parameters);
  if (r.r2) fmt::print(", R² {:.6f}", *r.r2);
  if (r.adjustedR2) fmt::print(" (adjusted {:.6f})", *r.adjustedR2);
  if (r.residualSd) fmt::print(", residual sd {}", quantityText(quantity, *r.residualSd));
  fmt::print("\n");
  if (r.looRmse) {
    fmt::print("leave-one-out error {}", quantityText(quantity, *r.looRmse));
    if (r.looRelativeError) fmt::print(", {} of the mean response", report::percent(*r.looRelativeError));
    fmt::print("\n");
  } else if (!r.looReason.empty()) {
    fmt::print("no leave-one-out error: {}\n", r.looReason);
  }
  if (!r.intervalReason.empty()) fmt::print("no intervals: {}\n", r.intervalReason);
  for (const regress::Warning& warning : r.warnings) fmt::print("warning: {}\n", warning.text);
  std::vector<std::string> names;
  for (const graph::FactorSpec& factor : fitted.plan->run->spec.factors) names.push_back(factor.name);
  for (const design::Alias& alias : design::mainEffectAliases(fitted.plan->run->array, names))
    fmt::print("note: {}\n", alias.text);
}

/// The level's number, or its position among the levels of a categorical factor.
std::optional<double> coordinate(Workspace& workspace, const graph::FactorSpec& spec, const design::Factor& factor,
                                 const ast::Expr& value) {
  std::string text(workspace.session.sources.text(value.range));
  const auto* unary = ast::dynCast<ast::Unary>(&value);
  const auto* number = ast::dynCast<ast::Number>(unary != nullptr ? unary->operand : &value);
  if (factor.numeric() && number != nullptr) {
    if (const std::optional<Rational> parsed = Rational::parse(number->text))
      return unary != nullptr ? -parsed->toDouble() : parsed->toDouble();
  }
  if (!factor.numeric()) {
    for (std::size_t i = 0; i < factor.labels.size(); ++i) {
      if (factor.labels[i] == text || "\"" + factor.labels[i] + "\"" == text) return static_cast<double>(i);
    }
  }
  const std::string expects = factor.numeric() ? "a number" : fmt::format("one of {}", fmt::join(factor.labels, ", "));
  workspace.session.sink.report(Diag::bad_prediction_point, value.range,
                                fmt::format("`{}` takes {}, found `{}`", spec.name, expects, text));
  return std::nullopt;
}

std::optional<design::Point> pointOf(Workspace& workspace, const DesignRun& run, const ast::Record& record) {
  const std::vector<design::Factor> factors = run.factors();
  std::vector<std::optional<double>> point(factors.size());
  for (const ast::Record::Field& field : record.fields) {
    const std::optional<std::uint32_t> position = run.spec.find(field.name.text);
    if (!position) {
      workspace.session.sink.report(Diag::unknown_factor, field.name.range, field.name.text);
      return std::nullopt;
    }
    point[*position] = coordinate(workspace, run.spec.factors[*position], factors[*position], *field.value);
    if (!point[*position]) return std::nullopt;
  }
  design::Point out;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!point[f]) {
      workspace.session.sink.report(Diag::bad_prediction_point, record.range,
                                    fmt::format("`{}` has no value here", factors[f].name));
      return std::nullopt;
    }
    out.push_back(*point[f]);
  }
  return out;
}

void predictOne(Workspace& workspace, const ast::Predict& decl, const Fitted& fitted, const Options& options) {
  const auto* record = ast::dynCast<ast::Record>(decl.at);
  if (record == nullptr) {
    workspace.session.sink.report(Diag::bad_prediction_point, decl.at->range, "a point is a record: `{batch: 64, depth: 16}`");
    return;
  }
  const std::optional<design::Point> point = pointOf(workspace, *fitted.plan->run, *record);
  if (!point) return;
  const auto prediction = regress::predict(*fitted.result, *point);
  if (!prediction) {
    workspace.session.sink.report(Diag::regression_refused, decl.regression.range, decl.regression.text, prediction.error().text);
    return;
  }
  const std::string where(workspace.session.sources.text(record->range));
  if (!prediction->inside) {
    Diagnostic& diagnostic = workspace.session.sink.report(Diag::outside_region, decl.at->range, decl.regression.text);
    for (const std::string& why : prediction->outside) diagnostic.note(why);
  }
  const report::Quantity quantity = fitted.plan->quantity;
  if (options.json) {
    Json levels = Json::object();
    const std::vector<design::Factor> factors = fitted.plan->run->factors();
    for (std::size_t f = 0; f < factors.size(); ++f) {
      levels[factors[f].name] =
          factors[f].numeric() ? Json((*point)[f]) : Json(factors[f].labels[static_cast<std::size_t>((*point)[f])]);
    }
    printJson("predict", {{"name", decl.regression.text},
                          {"backend", fitted.backend},
                          {"levels", levels},
                          {"value", prediction->value},
                          {"interval", orNull(prediction->interval)},
                          {"inside", prediction->inside}});
    return;
  }
  fmt::print("predict {} at {} on {}: {}", decl.regression.text, where, fitted.backend,
             quantityText(quantity, prediction->value));
  if (prediction->interval) {
    fmt::print(" (95 % of new rows between {} and {})", quantityText(quantity, prediction->interval->low),
               quantityText(quantity, prediction->interval->high));
  }
  fmt::print("{}\n", prediction->inside ? "" : ", outside the measured region");
}

}  // namespace

void printFitted(const std::vector<Fitted>& fits, const Options& options) {
  for (const Fitted& fitted : fits) {
    if (options.json) {
      printFitJson(fitted);
    } else {
      printFitText(fitted, options);
    }
  }
}

void printPredictions(Workspace& workspace, const std::vector<RegressionPlan>& plans, const std::vector<Fitted>& fits,
                      const Options& options) {
  for (const ast::Predict* decl : workspace.all<ast::Predict>()) {
    bool declared = false;
    for (const RegressionPlan& plan : plans) declared = declared || plan.decl->name.text == decl->regression.text;
    if (!declared) {
      std::vector<std::string> names;
      for (const RegressionPlan& plan : plans) names.push_back(plan.decl->name.text);
      Diagnostic& diagnostic =
          workspace.session.sink.report(Diag::unknown_regression, decl->regression.range, decl->regression.text);
      const std::string close = nearest(decl->regression.text, names);
      if (!close.empty()) diagnostic.fix(decl->regression.range, close, Applicability::Maybe);
      continue;
    }
    for (const Fitted& fitted : fits) {
      if (fitted.plan->decl->name.text == decl->regression.text) predictOne(workspace, *decl, fitted, options);
    }
  }
}

}  // namespace tbem::driver
