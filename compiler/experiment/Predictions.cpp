#include "compiler/experiment/Predictions.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/experiment/AtText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tbem::driver {

namespace {

/// What a level's text means on a factor's axis: its number, or its position among the levels of a categorical factor.
std::optional<double> coordinate(const design::Factor& factor, std::string text) {
  if (factor.numeric()) {
    const std::optional<Rational> number = parseSigned(text);
    return number ? std::optional(number->toDouble()) : std::nullopt;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < factor.labels.size(); ++i) {
    if (factor.labels[i] == text) return static_cast<double>(i);
  }
  return std::nullopt;
}

std::string expects(const design::Factor& factor) {
  return factor.numeric() ? "a number" : "one of the levels " + firstFew(factor.labels);
}

/// Whether a nested factor exists where its parents have these values; those that have none do not.
bool existsAt(const std::vector<design::Factor>& factors, const design::Factor& factor,
              std::span<const std::optional<double>> point) {
  if (!factor.nested) return true;
  const design::Factor& parent = factors[factor.nested->parent];
  const std::optional<double>& value = point[factor.nested->parent];
  return value && existsAt(factors, parent, point) &&
         std::any_of(factor.nested->under.begin(), factor.nested->under.end(),
                     [&](std::uint32_t level) { return design::coordinateOf(parent, level) == *value; });
}

/// The first factor that has a value where it does not exist, or none where it does; nothing: all are in order, and `out` has
/// them.
std::optional<std::string> misplaced(const std::vector<design::Factor>& factors, std::span<const std::optional<double>> point,
                                     design::Point& out) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const bool exists = existsAt(factors, factors[f], point);
    if (exists && !point[f]) return fmt::format("`{}` has no value here", factors[f].name);
    if (!exists && point[f])
      return fmt::format("`{}` has a value, but exists under other levels of `{}` only", factors[f].name,
                         factors[factors[f].nested->parent].name);
    out.push_back(exists ? *point[f] : std::numeric_limits<double>::quiet_NaN());
  }
  return std::nullopt;
}

/// The point that a record gives; nothing after a diagnostic.
std::optional<design::Point> pointOf(Workspace& workspace, const DesignRun& run, const ast::Record& record) {
  DiagnosticSink& sink = workspace.session.sink;
  const std::vector<design::Factor> factors = run.factors();
  std::vector<std::optional<double>> point(factors.size());
  std::vector<std::string> names;
  names.reserve(factors.size());
  for (const design::Factor& factor : factors) names.push_back(factor.name);
  for (const ast::Record::Field& field : record.fields) {
    const std::optional<std::uint32_t> position = run.spec.find(field.name.text);
    if (!position) {
      Diagnostic& diagnostic = sink.report(diag::unknown_factor, field.name.range, field.name.text);
      const std::string close = nearest(field.name.text, names);
      if (!close.empty()) diagnostic.fix(field.name.range, close, Applicability::Maybe);
      return std::nullopt;
    }
    const std::string text(workspace.session.sources.text(field.value->range));
    if (point[*position]) {
      sink.report(diag::argument_twice, field.name.range, field.name.text);
      return std::nullopt;
    }
    point[*position] = coordinate(factors[*position], text);
    if (!point[*position]) {
      sink.report(diag::bad_prediction_point, field.value->range,
                  fmt::format("`{}` takes {}, found `{}`", field.name.text, expects(factors[*position]), text));
      return std::nullopt;
    }
  }
  design::Point out;
  if (const auto wrong = misplaced(factors, point, out)) {
    sink.report(diag::bad_prediction_point, record.range, *wrong);
    return std::nullopt;
  }
  return out;
}

/// The point that --at gives. Errors: why it gives none.
tl::expected<design::Point, std::string> pointOf(const DesignRun& run, const std::string& at) {
  const auto pairs = parseAt(at);
  if (!pairs) return tl::unexpected(notLevels(at));
  for (const auto& [name, level] : *pairs) {
    if (run.spec.find(name)) continue;
    return tl::unexpected(noFactor(at, run.spec, name));
  }
  const std::vector<design::Factor> factors = run.factors();
  std::vector<std::optional<double>> point;
  for (const design::Factor& factor : factors) {
    std::optional<double> value;
    std::string text;
    for (const auto& [name, level] : *pairs) {
      if (name != factor.name) continue;
      text = level;
      value = coordinate(factor, level);
    }
    if (!value && (!factor.nested || !text.empty())) {
      return tl::unexpected(fmt::format("--at {}: `{}` takes {}{}", at, factor.name, expects(factor),
                                        text.empty() ? ", and has no value here" : fmt::format(", found `{}`", text)));
    }
    point.push_back(value);
  }
  design::Point out;
  if (const auto wrong = misplaced(factors, point, out)) {
    return tl::unexpected(fmt::format("--at {}: {}", at, *wrong));
  }
  return out;
}

const RegressionPlan* findRegression(Workspace& workspace, const std::vector<RegressionPlan>& regressions,
                                     const ast::Name& name) {
  std::vector<std::string> names;
  for (const RegressionPlan& plan : regressions) {
    if (plan.decl->name.text == name.text) return &plan;
    names.push_back(plan.decl->name.text);
  }
  // One that is declared but has mistakes of its own was told already.
  for (const ast::Regress* decl : workspace.all<ast::Regress>()) {
    if (decl->name.text == name.text) return nullptr;
  }
  Diagnostic& diagnostic = workspace.session.sink.report(diag::unknown_regression, name.range, name.text);
  const std::string close = nearest(name.text, names);
  if (!close.empty()) diagnostic.fix(name.range, close, Applicability::Maybe);
  return nullptr;
}

}  // namespace

Predictions readPredictions(Workspace& workspace, const std::vector<RegressionPlan>& regressions, const std::string& point) {
  Predictions predictions;
  for (const ast::Predict* decl : workspace.all<ast::Predict>()) {
    const RegressionPlan* regression = findRegression(workspace, regressions, decl->regression);
    if (regression == nullptr) continue;
    const auto* record = ast::dynCast<ast::Record>(decl->at);
    if (record == nullptr) {
      workspace.session.sink.report(diag::bad_prediction_point, decl->at->range,
                                    std::string("a point is a record: `{batch: 64, depth: 16}`"));
      continue;
    }
    std::optional<design::Point> point = pointOf(workspace, *regression->run, *record);
    if (!point) continue;
    const std::string where(workspace.session.sources.text(record->range));
    predictions.plans.push_back({regression, std::move(*point), where, record->range});
  }
  if (point.empty()) return predictions;
  predictions.plans.clear();
  for (const RegressionPlan& regression : regressions) {
    auto levels = pointOf(*regression.run, point);
    if (!levels) {
      predictions.usage = std::move(levels).error();
      return predictions;
    }
    predictions.plans.push_back({&regression, std::move(*levels), point, {}});
  }
  return predictions;
}

std::vector<Predicted> predictAll(Workspace& workspace, const std::vector<PredictionPlan>& plans,
                                  const std::vector<Fitted>& fits) {
  std::vector<Predicted> predicted;
  for (const PredictionPlan& plan : plans) {
    const std::string& name = plan.regression->decl->name.text;
    for (const Fitted& fitted : fits) {
      if (fitted.plan != plan.regression) continue;
      auto prediction = regress::predict(*fitted.result, plan.point);
      if (!prediction) {
        workspace.session.sink.report(diag::regression_refused, plan.range, name, prediction.error().text);
        continue;
      }
      if (!prediction->inside) {
        Diagnostic& diagnostic = workspace.session.sink.report(diag::outside_region, plan.range, name);
        for (const std::string& why : prediction->outside) diagnostic.note(why);
      }
      predicted.push_back({&plan, &fitted, std::move(*prediction)});
    }
  }
  return predicted;
}

}  // namespace tbem::driver
