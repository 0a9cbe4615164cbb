// Paths of what a graph is made of: "stage[2].conv2d_1". Where names are given, each is given once.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbem::graph {

class Paths {
public:
  /// Of the innermost place: an application of a body, or a turn of a loop.
  const std::string& here() const { return places.back().prefix; }
  std::string under(const std::string& name) const;
  std::string fresh(std::string_view name);
  /// What `fresh` would give, which this does not take.
  std::string next(std::string_view name) const;

  void enter(std::string path) { places.push_back({std::move(path), {}, {}}); }
  /// A turn of a loop, which gets its name in the first.
  void enterTurn(const ast::For& loop, std::size_t turn);
  void leave() { places.pop_back(); }
  std::size_t depth() const { return places.size(); }

private:
  struct Place {
    std::string prefix;
    std::unordered_map<std::string, int> taken;
    std::unordered_map<const ast::For*, std::string> loops;
  };
  std::vector<Place> places = std::vector<Place>(1);
};

}  // namespace tbem::graph
