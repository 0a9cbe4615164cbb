#include "compiler/graph/pass/Mutation.h"

#include <charconv>

namespace tbem::graph {

std::vector<PathPart> pathParts(std::string_view path) {
  std::vector<PathPart> parts;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    parts.push_back({std::string(part.substr(0, part.find('['))), std::nullopt});
    for (std::size_t bracket = part.find('['); bracket != std::string_view::npos; bracket = part.find('[')) {
      part.remove_prefix(bracket + 1);
      std::int64_t turn = 0;
      std::from_chars(part.data(), part.data() + part.size(), turn);
      if (parts.back().turn) parts.push_back({"", std::nullopt});  // of a list in a list
      parts.back().turn = turn;
    }
  }
  return parts;
}

std::string pathText(const std::vector<PathPart>& parts) {
  std::string text;
  for (const PathPart& part : parts) {
    text += (text.empty() || part.name.empty() ? "" : ".") + part.name;
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
