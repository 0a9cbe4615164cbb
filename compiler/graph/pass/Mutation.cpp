#include "compiler/graph/pass/Mutation.h"

#include <charconv>

namespace tbem::graph {

std::vector<PathPart> pathParts(std::string_view path) {
  std::vector<PathPart> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    const std::size_t bracket = part.find('[');
    PathPart one{std::string(part.substr(0, bracket)), std::nullopt};
    if (bracket != std::string_view::npos) {
      std::int64_t turn = 0;
      std::from_chars(part.data() + bracket + 1, part.data() + part.size() - 1, turn);
      one.turn = turn;
    }
    parts.push_back(std::move(one));
  }
  return parts;
}

std::string pathText(const std::vector<PathPart>& parts) {
  std::string text;
  for (const PathPart& part : parts) {
    text += (text.empty() ? "" : ".") + part.name;
    if (part.turn) text += "[" + std::to_string(*part.turn) + "]";
  }
  return text;
}

Fit fits(const std::vector<PathPart>& place, const std::vector<PathPart>& path, std::string_view declaration) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (next == place.size()) return Fit::Inside;
    const PathPart& wanted = place[next];
    const bool last = i + 1 == path.size();
    const bool named = path[i].name == wanted.name || (last && !path[i].turn && declaration == wanted.name);
    if (named && (!wanted.turn || wanted.turn == path[i].turn)) {
      ++next;
    } else if (!path[i].turn) {
      return Fit::None;  // only turns of loops may be left out
    }
  }
  return next == place.size() ? Fit::Exact : Fit::None;
}

}  // namespace tbem::graph
