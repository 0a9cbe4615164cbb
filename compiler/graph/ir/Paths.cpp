#include "compiler/graph/ir/Paths.h"

#include <algorithm>

namespace tbem::graph {

std::string Paths::under(const std::string& name) const {
  std::string path;
  path.reserve(here().size() + 1 + name.size());
  path += here();
  if (!path.empty() && !name.empty()) path += '.';
  path += name;
  return path;
}

std::string Paths::next(std::string_view name) const {
  const auto& taken = places.back().taken;
  const auto at = taken.find(std::string(name));
  if (at == taken.end()) return std::string(name);
  const std::size_t word = std::min(name.find('['), name.size());  // "stage[0]" again is "stage_2[0]"
  return std::string(name.substr(0, word)) + "_" + std::to_string(at->second + 1) + std::string(name.substr(word));
}

std::string Paths::fresh(std::string_view name) {
  std::string fresh = next(name);
  ++places.back().taken[std::string(name)];
  return fresh;
}

void Paths::enterTurn(const ast::For& loop, std::size_t turn) {
  std::string& name = places.back().loops[&loop];
  if (turn == 0) name = fresh(loop.label.empty() ? std::string_view("for") : std::string_view(loop.label.text));
  enter(under(name + "[" + std::to_string(turn) + "]"));
}

}  // namespace tbem::graph
