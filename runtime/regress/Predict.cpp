#include "runtime/regress/Fit.h"
#include "runtime/regress/StudentT.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::regress {

namespace {

bool inModel(const design::Basis& basis, std::size_t factor) {
  for (const design::Term& term : basis.terms()) {
    for (const design::Part& part : term.parts) {
      if (part.factor == factor) return true;
    }
  }
  return false;
}

std::optional<Refusal> checkPoint(const Result& result, const Point& point) {
  const auto& factors = result.basis.factors();
  if (point.size() != factors.size()) {
    return Refusal{Refusal::Kind::BadTerms, fmt::format("{} values for {} factors", point.size(), factors.size()), {}, 0, 0};
  }
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].nested && std::isnan(point[f])) continue;
    if (!std::isfinite(point[f]))
      return Refusal{Refusal::Kind::NotFinite, fmt::format("`{}` has no value", factors[f].name), {}, 0, 0};
    if (factors[f].numeric()) continue;
    const auto& seen = result.seen[f];
    const bool level = point[f] >= 0 && point[f] < static_cast<double>(seen.size()) && point[f] == std::floor(point[f]);
    if (!level) return Refusal{Refusal::Kind::NotFinite, fmt::format("`{}` has no such level", factors[f].name), {}, 0, 0};
    const auto index = static_cast<std::size_t>(point[f]);
    if (!seen[index] && inModel(result.basis, f)) {
      return Refusal{Refusal::Kind::Aliased,
                     fmt::format("no fitted row has `{}` = {}", factors[f].name, factors[f].labels[index]),
                     {},
                     0,
                     0};
    }
  }
  return std::nullopt;
}

void compareWithRegion(const Result& result, const Point& point, Prediction& prediction) {
  const auto& factors = result.basis.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const Interval box = result.box[f];
    if (std::isnan(point[f])) continue;
    if (!factors[f].numeric()) {
      const auto level = static_cast<std::size_t>(point[f]);
      if (!result.seen[f][level])
        prediction.outside.push_back(fmt::format("no fitted row has `{}` = {}", factors[f].name, factors[f].labels[level]));
      continue;
    }
    if (point[f] > box.high)
      prediction.outside.push_back(
          fmt::format("`{}` = {:g} lies above {:g}, the largest fitted", factors[f].name, point[f], box.high));
    if (point[f] < box.low)
      prediction.outside.push_back(
          fmt::format("`{}` = {:g} lies below {:g}, the smallest fitted", factors[f].name, point[f], box.low));
  }
  if (prediction.leverage > result.maxLeverage * (1 + 1e-9)) {
    prediction.outside.push_back(fmt::format("its leverage {:.3g} exceeds {:.3g}, the largest of the fitted rows",
                                             prediction.leverage, result.maxLeverage));
  }
  prediction.inside = prediction.outside.empty();
}

}  // namespace

tl::expected<Prediction, Refusal> predict(const Result& result, const Point& point) {
  if (auto refusal = checkPoint(result, point)) return tl::unexpected(std::move(*refusal));
  const std::size_t p = result.basis.size();
  std::vector<double> x(p);
  result.basis.evaluate<double>(point, x.data());
  Prediction prediction;
  for (std::size_t c = 0; c < p; ++c) prediction.value += x[c] * result.coefficients[c].value;
  for (std::size_t j = 0; j < p; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < p; ++i) sum += x[i] * result.rootInverse[i * p + j];
    prediction.leverage += sum * sum;
  }
  if (result.residualSd) {
    const double t = studentQuantile(0.5 + result.confidence / 2, static_cast<double>(result.residualDegrees));
    const double ofMean = t * *result.residualSd * std::sqrt(prediction.leverage);
    const double ofNew = t * *result.residualSd * std::sqrt(1 + prediction.leverage);
    prediction.mean = Interval{prediction.value - ofMean, prediction.value + ofMean};
    prediction.interval = Interval{prediction.value - ofNew, prediction.value + ofNew};
  }
  compareWithRegion(result, point, prediction);
  return prediction;
}

}  // namespace tbem::regress
