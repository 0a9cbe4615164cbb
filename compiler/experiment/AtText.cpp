#include "compiler/experiment/AtText.h"

#include "compiler/diagnostics/Hints.h"

#include <fmt/format.h>

#include <vector>

namespace tbem::driver {

std::string notLevels(const std::string& at) { return fmt::format("--at {}: give levels as --at depth=16,batch=64", at); }

std::string noFactor(const std::string& at, const graph::DesignSpec& spec, const std::string& name) {
  std::vector<std::string> factors;
  for (const graph::FactorSpec& factor : spec.factors) factors.push_back(factor.name);
  return fmt::format("--at {}: design `{}` has no factor `{}`{}", at, spec.name, name,
                     factors.empty() ? "; it has none" : ": its factors are " + nearestFew(name, factors));
}

}  // namespace tbem::driver
