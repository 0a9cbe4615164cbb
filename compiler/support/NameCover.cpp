#include "compiler/support/NameCover.h"

#include <algorithm>
#include <optional>

namespace tbem {

namespace {

/// The shortest beginning of `name` that ends in a dot and begins no name of `others`; nothing: there is none.
std::optional<std::string> ownModule(const std::string& name, const std::vector<std::string>& others) {
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    std::string module = name.substr(0, dot + 1);
    if (std::ranges::none_of(others, [&](const std::string& other) { return other.starts_with(module); })) return module;
  }
  return std::nullopt;
}

}  // namespace

NameCover coverOf(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  NameCover cover;
  for (const std::string& name : names) {
    if (std::ranges::any_of(cover.modules, [&](const std::string& module) { return name.starts_with(module); })) continue;
    if (std::optional<std::string> module = ownModule(name, others))
      cover.modules.push_back(std::move(*module));
    else
      cover.alone.push_back(name);
  }
  return cover;
}

}  // namespace tbem
