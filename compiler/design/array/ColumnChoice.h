// Choices of columns. Internal to compiler/design.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::design {

/// The next ascending choice of columns below `k`, in lexicographic order. False: there is none.
inline bool nextChoice(std::vector<std::uint32_t>& choice, std::uint32_t k) {
  const auto t = static_cast<std::uint32_t>(choice.size());
  std::uint32_t i = t;
  while (i > 0 && choice[i - 1] == k - t + i - 1) --i;
  if (i == 0) return false;
  ++choice[i - 1];
  for (; i < t; ++i) choice[i] = choice[i - 1] + 1;
  return true;
}

}  // namespace tbem::design
