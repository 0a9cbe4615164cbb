#include "compiler/diagnostics/Source.h"

#include "runtime/files/Read.h"

#include <algorithm>

namespace tbem {

SrcRange cover(SrcRange a, SrcRange b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

const Source& SourceManager::add(std::string name, std::string text) {
  Source source;
  source.name = std::move(name);
  source.text = std::move(text);
  source.base = next;
  source.lineStarts.push_back(0);
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    if (source.text[i] == '\n') source.lineStarts.push_back(static_cast<std::uint32_t>(i + 1));
  }
  // One more than the text, so that the place just behind the last byte belongs to this source alone.
  next += static_cast<Loc>(source.text.size()) + 1;
  sources.push_back(std::move(source));
  return sources.back();
}

tl::expected<const Source*, std::string> SourceManager::addFile(const std::string& path) {
  auto text = files::readFile(path, kMostText);
  if (!text) return tl::unexpected(std::move(text.error().message));
  return &add(path, std::move(*text));
}

const Source* SourceManager::find(Loc loc) const {
  auto after =
      std::upper_bound(sources.begin(), sources.end(), loc, [](Loc value, const Source& source) { return value < source.base; });
  if (loc == 0 || after == sources.begin()) return nullptr;
  const Source& source = *std::prev(after);
  return loc - source.base <= source.text.size() ? &source : nullptr;
}

std::string_view SourceManager::text(SrcRange range) const {
  const Source* source = find(range.begin);
  if (source == nullptr || range.end < range.begin) return {};
  return std::string_view(source->text).substr(range.begin - source->base, range.end - range.begin);
}

LineColumn SourceManager::lineColumn(Loc loc) const {
  const Source* source = find(loc);
  if (source == nullptr) return {};
  const std::uint32_t offset = loc - source->base;
  auto after = std::upper_bound(source->lineStarts.begin(), source->lineStarts.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - source->lineStarts.begin());
  std::uint32_t column = 1;
  for (std::uint32_t i = source->lineStarts[line - 1]; i < offset; ++i) {
    if ((static_cast<unsigned char>(source->text[i]) & 0xC0U) != 0x80U) ++column;
  }
  return {line, column};
}

std::string_view SourceManager::line(Loc loc) const {
  const Source* source = find(loc);
  if (source == nullptr) return {};
  const std::uint32_t number = lineColumn(loc).line;
  const std::uint32_t begin = source->lineStarts[number - 1];
  std::size_t end = source->text.find('\n', begin);
  if (end == std::string::npos) end = source->text.size();
  return std::string_view(source->text).substr(begin, end - begin);
}

std::string SourceManager::describe(Loc loc) const {
  const Source* source = find(loc);
  if (source == nullptr) return {};
  const LineColumn place = lineColumn(loc);
  return source->name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string sourceText(const SourceManager& sources, SrcRange range) {
  std::string text;
  for (const char c : sources.text(range)) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  // The range of an operator reaches from operand to operand, within the parentheses around them.
  std::size_t open = 0;
  std::string before;
  for (const char c : text) {
    if (c == '(') ++open;
    if (c == ')' && open == 0) before += '(';
    if (c == ')' && open != 0) --open;
  }
  return before + text + std::string(open, ')');
}

}  // namespace tbem
