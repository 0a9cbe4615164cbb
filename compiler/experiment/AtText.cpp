#include "compiler/experiment/AtText.h"

#include "compiler/diagnostics/Hints.h"

#include <fmt/format.h>

namespace tbem::driver {

std::optional<std::vector<std::pair<std::string, std::string>>> parseAt(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string part = text.substr(start, i - start);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) return std::nullopt;
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    start = i + 1;
  }
  return pairs;
}

std::optional<Rational> parseSigned(std::string_view text) {
  const bool isNegative = text.starts_with('-');
  const std::optional<Rational> size = Rational::parse(text.substr(isNegative ? 1 : 0));
  if (!size || !isNegative) return size;
  if (size->isExact()) return Rational{-size->num, size->den};
  return Rational::fromDouble(-size->toDouble());
}

std::string notLevels(const std::string& at) { return fmt::format("--at {}: give levels as --at depth=16,batch=64", at); }

std::string noFactor(const std::string& at, const graph::DesignSpec& spec, const std::string& name) {
  std::vector<std::string> factors;
  for (const graph::FactorSpec& factor : spec.factors) factors.push_back(factor.name);
  return fmt::format("--at {}: design `{}` has no factor `{}`{}", at, spec.name, name,
                     factors.empty() ? "; it has none" : ": its factors are " + nearestFew(name, factors));
}

}  // namespace tbem::driver
