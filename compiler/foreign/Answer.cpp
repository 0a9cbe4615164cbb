#include "compiler/foreign/Answer.h"

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Hints.h"
#include "compiler/support/Rational.h"
#include "compiler/support/Units.h"
#include "runtime/measure/Quantile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace tbem::foreign {

namespace {

using Json = nlohmann::json;
using runtime::Measurement;

/// A metric: a number with a dimension, or a text. One of the members is set.
struct Metric {
  const char* name;
  std::optional<std::uint64_t> Measurement::*bytes = nullptr;
  std::optional<double> Measurement::*real = nullptr;
  Dimension dimension = Dimension::Bytes;  ///< of `real`
  std::string Measurement::*text = nullptr;
};

constexpr Metric sizeMetric(const char* name, std::optional<std::uint64_t> Measurement::*bytes) { return {name, bytes}; }
constexpr Metric realMetric(const char* name, std::optional<double> Measurement::*real, Dimension dimension) {
  return {name, nullptr, real, dimension};
}
constexpr Metric textMetric(const char* name, std::string Measurement::*text) {
  return {name, nullptr, nullptr, Dimension::Bytes, text};
}

constexpr Metric kMetrics[] = {
    sizeMetric("memory_peak", &Measurement::memoryPeak),
    sizeMetric("memory_baseline", &Measurement::memoryBaseline),
    sizeMetric("allocated_peak", &Measurement::allocatedPeak),
    sizeMetric("reserved_peak", &Measurement::reservedPeak),
    sizeMetric("device_peak", &Measurement::devicePeak),
    realMetric("latency", &Measurement::latencyMedian, Dimension::Seconds),
    realMetric("latency_p05", &Measurement::latencyP05, Dimension::Seconds),
    realMetric("latency_p95", &Measurement::latencyP95, Dimension::Seconds),
    realMetric("energy", &Measurement::energy, Dimension::Joules),
    realMetric("energy_dynamic", &Measurement::energyDynamic, Dimension::Joules),
    realMetric("idle_power", &Measurement::idlePower, Dimension::Watts),
    textMetric("reason", &Measurement::reason),
    textMetric("memory_reason", &Measurement::memoryReason),
    textMetric("energy_reason", &Measurement::energyReason),
    textMetric("loss_not_finite", &Measurement::lossNotFinite),
    textMetric("machine", &Measurement::machine),
    textMetric("versions", &Measurement::versions),
};

const Metric* metricOf(std::string_view name) {
  const auto* const found = std::ranges::find_if(kMetrics, [&](const Metric& each) { return each.name == name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

bool isNumber(const Metric& metric) { return metric.text == nullptr; }
Dimension dimensionOf(const Metric& metric) { return metric.bytes != nullptr ? Dimension::Bytes : metric.dimension; }

const char* exampleOf(Dimension dimension) {
  switch (dimension) {
    case Dimension::Bytes:
      return "1.5 GiB";
    case Dimension::Seconds:
      return "3 ms";
    case Dimension::Joules:
      return "2 J";
    default:
      return "100 W";
  }
}

std::string wantsQuantity(const Metric& metric, std::string_view found) {
  return fmt::format("`{}` is a number of {}, or one with its unit (\"{}\"), found {}", metric.name,
                     describe(dimensionOf(metric)), exampleOf(dimensionOf(metric)), found);
}

/// A number, and behind it perhaps a blank and a unit of the metric's dimension.
tl::expected<double, std::string> quantity(const Metric& metric, std::string_view text) {
  const auto wrong = [&] { return tl::unexpected(wantsQuantity(metric, fmt::format("`{}`", text))); };
  const std::size_t blank = text.find(' ');
  std::string_view digits = text.substr(0, blank);
  const bool isNegative = digits.starts_with('-');
  if (isNegative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::optional<Rational> number = Rational::parse(digits);
  if (!number) return wrong();
  double value = number->toDouble();
  if (blank != std::string_view::npos) {
    const UnitWord* const unit = findUnit(text.substr(blank + 1));
    if (unit == nullptr || unit->dimension != dimensionOf(metric)) return wrong();
    value *= unit->factor.toDouble();
  }
  return isNegative ? -value : value;
}

class AnswerReader {
public:
  tl::expected<Measurement, std::string> read(const Json& object) {
    result.status = runtime::Status::Ok;
    for (const auto& [name, value] : object.items()) {
      if (auto taken = take(name, value); !taken) return tl::unexpected(taken.error());
    }
    const bool isOk = result.status == runtime::Status::Ok;
    if (isOk && !result.reason.empty()) return tl::unexpected(std::string("`reason` is of a row that is not `ok`"));
    if (!isOk && result.reason.empty()) result.reason = "the program gave no reason";
    if (auto sound = latency(); !sound) return tl::unexpected(sound.error());
    if (isOk && !anyNumber()) return tl::unexpected(std::string("it has no metric that is a number"));
    return result;
  }

private:
  tl::expected<void, std::string> take(const std::string& name, const Json& value) {
    if (value.is_null()) return {};
    if (name == "status") return takeStatus(value);
    if (name == "samples") return takeSamples(value);
    const Metric* const metric = metricOf(name);
    if (metric == nullptr) return tl::unexpected(unknown(name));
    if (!isNumber(*metric)) {
      if (!value.is_string()) return tl::unexpected(fmt::format("`{}` is a text, found {}", name, value.dump()));
      result.*metric->text = value.get<std::string>();
      return {};
    }
    if (!value.is_number() && !value.is_string()) return tl::unexpected(wantsQuantity(*metric, value.dump()));
    const auto number =
        value.is_string() ? quantity(*metric, value.get<std::string>()) : tl::expected<double, std::string>(value.get<double>());
    if (!number) return tl::unexpected(number.error());
    return put(result, name, *number);
  }

  tl::expected<void, std::string> takeStatus(const Json& value) {
    const auto status = value.is_string() ? runtime::statusOf(value.get<std::string>()) : std::nullopt;
    if (!status) return tl::unexpected(fmt::format("`status` is ok, oom, failed, timeout or skipped, found {}", value.dump()));
    result.status = *status;
    return {};
  }

  tl::expected<void, std::string> takeSamples(const Json& value) {
    const bool sound = value.is_array() && std::ranges::all_of(value, [](const Json& each) {
                         return each.is_number() && each.get<double>() >= 0 && std::isfinite(each.get<double>());
                       });
    if (!sound) return tl::unexpected(std::string("`samples` is a list of seconds, one a step"));
    for (const Json& each : value) result.samples.push_back(each.get<double>());
    return {};
  }

  tl::expected<void, std::string> latency() {
    if (result.samples.empty()) return {};
    if (result.latencyMedian || result.latencyP05 || result.latencyP95)
      return tl::unexpected(std::string("`latency` stands beside `samples`, from which it is computed: give one of the two"));
    std::vector<double> sorted = result.samples;
    std::ranges::sort(sorted);
    result.latencyMedian = measure::quantileOfSorted(sorted, 0.5);
    result.latencyP05 = measure::quantileOfSorted(sorted, 0.05);
    result.latencyP95 = measure::quantileOfSorted(sorted, 0.95);
    return {};
  }

  bool anyNumber() const {
    return std::ranges::any_of(kMetrics, [&](const Metric& metric) {
      return (metric.bytes != nullptr && (result.*metric.bytes).has_value()) ||
             (metric.real != nullptr && (result.*metric.real).has_value());
    });
  }

  static std::string unknown(const std::string& name) {
    std::vector<std::string> known = {"status", "samples"};
    for (const Metric& metric : kMetrics) known.emplace_back(metric.name);
    return fmt::format("no metric is called `{}`; the nearest are {}", name, nearestFew(name, known));
  }

  Measurement result;
};

}  // namespace

tl::expected<Measurement, std::string> readAnswer(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return tl::unexpected(std::string("it is empty"));
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return tl::unexpected(fmt::format("it is not one JSON object of metrics: {}", text.substr(0, 80)));
  return AnswerReader().read(object);
}

bool isQuantity(const std::string& metric) {
  const Metric* const known = metricOf(metric);
  return known != nullptr && isNumber(*known);
}

tl::expected<double, std::string> readQuantity(const std::string& metric, const std::string& text) {
  return quantity(*metricOf(metric), text);
}

tl::expected<void, std::string> put(Measurement& value, const std::string& metric, double number) {
  const Metric& known = *metricOf(metric);
  if (!(number >= 0) || number >= 9e18) return tl::unexpected(wantsQuantity(known, fmt::format("{:g}", number)));
  if (known.bytes != nullptr)
    value.*known.bytes = static_cast<std::uint64_t>(std::llround(number));
  else
    value.*known.real = number;
  return {};
}

}  // namespace tbem::foreign
