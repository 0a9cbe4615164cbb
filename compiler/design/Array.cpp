#include "compiler/design/Array.h"

#include <fmt/format.h>

#include <map>

namespace tbem::design {

std::string levelText(std::span<const std::uint32_t> levels) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const std::uint32_t level : levels) ++counts[level];
  std::string text;
  for (const auto& [level, count] : counts) text += fmt::format("{}{}^{}", text.empty() ? "" : " ", level, count);
  return text;
}

}  // namespace tbem::design
