// What a store has of the points of methods, without a search and without native code: for pages.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <string>
#include <vector>

namespace tbem::perturb {

/// By method, those that the store has points of, each with the points that there are. `gates`: paths of the network's gates, in
/// program order. Executables of the methods are not looked at. Their numbers are not read.
/// Errors: Environment (the store).
tl::expected<std::vector<Series>, Failure> stored(const Plan& plan, const std::vector<std::string>& gates,
                                                  const std::vector<Method>& methods, const std::string& store);

}  // namespace tbem::perturb
