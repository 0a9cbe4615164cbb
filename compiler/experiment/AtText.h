// The text of a `--at`: levels by name, numbers as such texts and files have them, and what is said of a text that names no row
// and no point.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/support/Rational.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::driver {

/// `--at` as pairs of factor and text: "depth=16,optimizer=sgd(lr: 0.1, momentum: 0.9)" splits at commas outside brackets.
/// Nothing where a part has no `=`.
std::optional<std::vector<std::pair<std::string, std::string>>> parseAt(const std::string& text);

/// A number with or without a minus: "-6.86". Nothing for other text.
std::optional<Rational> parseSigned(std::string_view text);

std::string notLevels(const std::string& at);
std::string noFactor(const std::string& at, const graph::DesignSpec& spec, const std::string& name);

}  // namespace tbem::driver
