#include "compiler/diagnostics/Hints.h"

#include "compiler/diagnostics/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem {

namespace {
constexpr std::size_t kShown = 3;
}

std::string firstFew(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += fmt::format("{}`{}`", i == 0 ? "" : ", ", names[i]);
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

std::string nearestFew(std::string_view word, std::vector<std::string> names) {
  auto rest = names.begin();
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i, ++rest) {
    const auto found = std::find(rest, names.end(), nearest(word, {rest, names.end()}));
    if (found == names.end()) break;
    std::rotate(rest, found, found + 1);
  }
  return firstFew(names);
}

}  // namespace tbem
