// What this machine has for us, what passed and what is missing, with the way out.
#pragma once

#include <string>
#include <vector>

namespace tbem::driver {

struct Finding {
  std::string what;
  bool good = true;
  std::string text;
};

/// `measured`: its rates are measured anew, and kept for rooflines. `python`: of rows that a framework measures (Surroundings).
std::vector<Finding> lookAtMachine(bool measured, const std::string& python);

}  // namespace tbem::driver
