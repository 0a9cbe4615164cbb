// What a program that measured a row tells of it.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::foreign {

/// A measurement from one JSON object of metrics (docs/frameworks.md, "Measured there"): a size in bytes, a time in seconds, an
/// energy in joules, each a number or a text with its unit ("1.5 GiB", "3 ms"). `samples`, the times of steps, give the quantiles
/// of the latency. Errors: what is wrong with the text, with the name of the metric.
tl::expected<runtime::Measurement, std::string> readAnswer(const std::string& text);

/// A number with a unit of this kind of metric, in bytes, seconds or joules: "1.5 GiB", "3 ms", "0.25". `metric`: one of
/// those that are numbers. Errors: as above.
tl::expected<double, std::string> readQuantity(const std::string& metric, const std::string& text);
/// Whether a metric has this name and is a number.
bool isQuantity(const std::string& metric);
/// Puts a number into the field of a metric that `isQuantity`. Errors: it cannot be of this metric (a negative size).
tl::expected<void, std::string> put(runtime::Measurement& value, const std::string& metric, double number);

}  // namespace tbem::foreign
