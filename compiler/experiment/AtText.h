// What is said of a `--at` that names no row and no point.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <string>

namespace tbem::driver {

std::string notLevels(const std::string& at);
std::string noFactor(const std::string& at, const graph::DesignSpec& spec, const std::string& name);

}  // namespace tbem::driver
