// Constraints as tables: whether a whole row is valid, in a few reads. Internal to this folder.
#pragma once

#include "compiler/design/rows/Constraints.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tbem::design {

/// One sorted list of forbidden keys for each set of factors that forbidden combinations name.
class RowFilter {
public:
  explicit RowFilter(const Constraints& rules) : levels(rules.levels) {
    for (const Combination& one : rules.forbidden) {
      std::vector<std::uint32_t> scope;
      std::uint64_t key = 0;
      for (const Literal& l : one) {
        scope.push_back(l.factor);
        key = key * levels[l.factor] + l.level;
      }
      tables[scope].push_back(key);
    }
    for (auto& [scope, keys] : tables) std::sort(keys.begin(), keys.end());
  }
  bool allows(std::span<const std::uint32_t> row) const {
    for (const auto& [scope, keys] : tables) {
      std::uint64_t key = 0;
      for (const std::uint32_t f : scope) key = key * levels[f] + row[f];
      if (std::binary_search(keys.begin(), keys.end(), key)) return false;
    }
    return true;
  }

private:
  std::vector<std::uint32_t> levels;
  std::map<std::vector<std::uint32_t>, std::vector<std::uint64_t>> tables;
};

}  // namespace tbem::design
