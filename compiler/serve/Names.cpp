#include "compiler/serve/Names.h"

#include "compiler/syntax/layout/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::serve {

namespace {

bool before(SrcRange a, SrcRange b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); }

void sortOnce(std::vector<SrcRange>& places) {
  std::ranges::sort(places, before);
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

bool isName(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && letter(text.front()) && std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

/// Names and their meanings as places of the program's own file, counted from its beginning in the text where `places` have
/// another length. What is declared elsewhere is only that.
using Meaning = std::tuple<std::uint32_t, std::int64_t, sema::NameKind>;
constexpr std::int64_t kElsewhere = -1;

class Shifted {
public:
  /// `places` are `longer` bytes longer in the other text.
  Shifted(const Reading& reading, std::vector<SrcRange> places, std::int64_t longer)
      : reading(reading), places(std::move(places)), longer(longer) {}

  std::set<Meaning> meanings() const {
    std::set<Meaning> all;
    for (const sema::Use& use : reading.uses().all()) {
      const bool own = use.declaration.valid() && reading.isOwn(use.declaration);
      all.emplace(static_cast<std::uint32_t>(at(use.range.begin)), own ? at(use.declaration.begin) : kElsewhere, use.kind);
    }
    return all;
  }

private:
  std::int64_t at(Loc place) const {
    const auto earlier = std::ranges::count_if(places, [&](SrcRange range) { return range.end <= place; });
    return static_cast<std::int64_t>(place - reading.source.base) + longer * earlier;
  }

  const Reading& reading;
  std::vector<SrcRange> places;
  std::int64_t longer;
};

std::string replaced(const Reading& reading, const std::vector<SrcRange>& places, const std::string& name) {
  std::string text = reading.source.text;
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    text.replace(place->begin - reading.source.base, place->end - place->begin, name);
  return text;
}

/// Whether the program means the same with `name` at these places.
bool meansTheSame(const Reading& reading, const std::vector<SrcRange>& places, const std::string& name) {
  const auto length = static_cast<std::int64_t>(places.front().end - places.front().begin);
  const std::unique_ptr<driver::Workspace> changed = driver::withText(reading.workspace, replaced(reading, places, name));
  const Reading other(*changed);
  return Shifted(reading, places, static_cast<std::int64_t>(name.size()) - length).meanings() == Shifted(other, {}, 0).meanings();
}

}  // namespace

std::vector<SrcRange> declarationsOf(const Reading& reading, Loc place) {
  std::vector<SrcRange> declarations;
  for (const sema::Use& use : reading.uses().at(place)) {
    if (use.declaration.valid()) declarations.push_back(use.declaration);
  }
  return declarations;
}

std::vector<SrcRange> placesOf(const Reading& reading, Loc place) {
  std::vector<SrcRange> places;
  for (const SrcRange declaration : declarationsOf(reading, place)) {
    for (const SrcRange use : reading.uses().usesOf(declaration)) {
      if (reading.isOwn(use)) places.push_back(use);
    }
  }
  sortOnce(places);
  return places;
}

tl::expected<SrcRange, std::string> renamable(const Reading& reading, Loc place) {
  const std::span<const sema::Use> found = reading.uses().at(place);
  if (found.empty()) return tl::unexpected(std::string("no name stands here"));
  const std::string word(reading.sources().text(found.front().range));
  for (const sema::Use& use : found) {
    if (!use.declaration.valid() || use.kind == sema::NameKind::Module)
      return tl::unexpected(fmt::format("`{}` is not declared in this program", word));
    for (const SrcRange other : reading.uses().sameName(use.declaration)) {
      if (!reading.isOwn(other)) return tl::unexpected(fmt::format("`{}` is declared in another file", word));
    }
    if (!reading.isOwn(use.declaration)) return tl::unexpected(fmt::format("`{}` is declared in another file", word));
  }
  return found.front().range;
}

tl::expected<std::vector<SrcRange>, std::string> rename(const Reading& reading, Loc place, const std::string& name) {
  const auto word = renamable(reading, place);
  if (!word) return tl::unexpected(word.error());
  if (!isName(name)) return tl::unexpected(fmt::format("`{}` is no name: a letter, then letters, digits and `_`", name));
  if (std::ranges::find(syntax::reservedWords(), name) != syntax::reservedWords().end())
    return tl::unexpected(fmt::format("`{}` is a word of the language", name));
  std::vector<SrcRange> places;
  for (const SrcRange declaration : declarationsOf(reading, place)) {
    for (const SrcRange same : reading.uses().sameName(declaration)) places.push_back(same);
  }
  sortOnce(places);
  if (!meansTheSame(reading, places, name))
    return tl::unexpected(fmt::format("`{}` means something else where `{}` stands", name, reading.sources().text(*word)));
  return places;
}

}  // namespace tbem::serve
