#include "compiler/diagnostics/ModelLine.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tbem {

namespace {

constexpr std::string_view kComment = "// ", kEnding = ".py";

/// "  let y = f(x)  // FILE.py:92"
ModelLine atEndOf(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  const std::size_t comment = line.rfind(kComment);
  if (comment == std::string_view::npos) return {};
  const std::string_view place = line.substr(comment + kComment.size());
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || !place.substr(0, colon).ends_with(kEnding)) return {};
  std::uint32_t number = 0;
  const char* const end = place.data() + place.size();
  const auto [stop, wrong] = std::from_chars(place.data() + colon + 1, end, number);
  if (wrong != std::errc() || stop != end || number == 0) return {};
  return {std::string(place.substr(0, colon)), number};
}

/// A declaration's first line, or what stands between two: a body begins or ends there.
bool isOutside(std::string_view line) { return line.empty() || (line.front() != ' ' && line.front() != '\t'); }

/// What the line opens of brackets, less what it closes. Comments and texts of a written program have none that matter.
int opened(std::string_view line) {
  int depth = 0;
  for (const char c : line.substr(0, line.find(kComment))) depth += (c == '(' || c == '[') - (c == ')' || c == ']');
  return depth;
}

/// "      |> relu": it belongs to the statement of the line before.
bool isPiped(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with("|>");
}

std::string_view lineAt(const Source& source, std::size_t number) {
  const std::size_t begin = source.lineStarts[number];
  const std::size_t end = number + 1 < source.lineStarts.size() ? source.lineStarts[number + 1] - 1 : source.text.size();
  return std::string_view(source.text).substr(begin, end - begin);
}

}  // namespace

std::string ModelLine::text() const { return file + ":" + std::to_string(line); }

ModelLine modelLineOf(const SourceManager& sources, Loc loc) {
  const Source* const source = sources.find(loc);
  if (source == nullptr) return {};
  const auto goesOn = [&](std::size_t at) { return at + 1 < source->lineStarts.size() && isPiped(lineAt(*source, at + 1)); };
  const std::size_t here = sources.lineColumn(loc).line - 1;
  if (isOutside(lineAt(*source, here))) return {};
  // The lines of one statement: brackets that are open at a line's end go on in the next, as does a pipe that begins there.
  int depth = 0;
  for (std::size_t at = here; at < source->lineStarts.size() && !isOutside(lineAt(*source, at)); ++at) {
    if (ModelLine origin = atEndOf(lineAt(*source, at)); origin.known()) return origin;
    depth += opened(lineAt(*source, at));
    if (depth == 0 && !goesOn(at)) break;
  }
  for (std::size_t at = here; at > 0 && !isOutside(lineAt(*source, at - 1)); --at) {
    if (ModelLine origin = atEndOf(lineAt(*source, at - 1)); origin.known()) return origin;
  }
  return {};
}

std::vector<ModelLine> modelLinesOf(const SourceManager& sources, const Diagnostic& diagnostic) {
  std::vector<ModelLine> origins;
  const auto add = [&](SrcRange range) {
    ModelLine origin = modelLineOf(sources, range.begin);
    if (origin.known() && std::find(origins.begin(), origins.end(), origin) == origins.end())
      origins.push_back(std::move(origin));
  };
  add(diagnostic.range);
  for (const Label& label : diagnostic.labels) add(label.range);
  return origins;
}

}  // namespace tbem
