#include "compiler/run/weights/WeightNames.h"

#include "compiler/diagnostics/Hints.h"
#include "runtime/data/File.h"

#include <embedded/tbem_names.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using Numbers = std::vector<std::uint64_t>;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// What a name had at the pattern's `{}`, `{a,b}` and `*`; a `*` is kept as the length of the name up to its end, at `stars`.
struct Match {
  Numbers numbers;
  std::vector<std::size_t> stars;
};

/// A number at name[at...]: its value; `at` moves behind it.
std::optional<std::uint64_t> takeNumber(std::string_view name, std::size_t& at) {
  const std::size_t start = at;
  std::uint64_t value = 0;
  while (at < name.size() && isDigit(name[at]) && at - start < 18)
    value = value * 10 + static_cast<std::uint64_t>(name[at++] - '0');
  if (at == start) return std::nullopt;
  return value;
}

/// The place of the longest of these words ("a,b") that is at name[at...]; `at` moves behind it.
std::optional<std::uint64_t> takeWord(std::string_view words, std::string_view name, std::size_t& at) {
  std::optional<std::uint64_t> best;
  std::size_t longest = 0;
  for (std::uint64_t place = 0;; ++place) {
    const std::string_view word = words.substr(0, words.find(','));
    if (name.substr(at).starts_with(word) && (!best || word.size() > longest)) {
      best = place;
      longest = word.size();
    }
    if (word.size() == words.size()) break;
    words.remove_prefix(word.size() + 1);
  }
  at += longest;
  return best;
}

/// Nothing where the pattern does not match the whole name.
std::optional<Match> match(std::string_view pattern, std::string_view name) {
  Match found;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pattern.size();) {
    const std::size_t close = pattern[i] == '{' ? pattern.find('}', i) : std::string_view::npos;
    if (close != std::string_view::npos) {
      const std::string_view words = pattern.substr(i + 1, close - i - 1);
      const auto number = words.empty() ? takeNumber(name, at) : takeWord(words, name, at);
      if (!number) return std::nullopt;
      found.numbers.push_back(*number);
      i = close + 1;
    } else if (pattern[i] == '*') {
      const std::size_t end = std::min(name.find('.', at), name.size());
      if (end == at) return std::nullopt;
      at = end;
      found.stars.push_back(found.numbers.size());
      found.numbers.push_back(at);
      ++i;
    } else {
      if (at == name.size() || name[at] != pattern[i]) return std::nullopt;
      ++i;
      ++at;
    }
  }
  if (at != name.size()) return std::nullopt;
  return found;
}

struct Found {
  Numbers numbers;
  std::size_t index = 0;
  bool operator<(const Found& other) const { return numbers < other.numbers; }
};

/// The names that are free and match, in the order of their numbers. The text of a `*` counts by the first name that begins
/// alike.
template <class NameOf>
std::vector<Found> findAll(std::string_view pattern, const std::vector<bool>& taken, NameOf nameOf) {
  std::vector<Found> found;
  std::map<std::string_view, std::size_t> firstWith;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) continue;
    auto matched = match(pattern, nameOf(i));
    if (!matched) continue;
    for (const std::size_t star : matched->stars) {
      const std::string_view begin = nameOf(i).substr(0, matched->numbers[star]);
      matched->numbers[star] = firstWith.emplace(begin, i).first->second;
    }
    found.push_back({std::move(matched->numbers), i});
  }
  std::stable_sort(found.begin(), found.end());
  return found;
}

std::string withoutComment(std::string line) {
  line.resize(std::min(line.size(), line.find('#')));
  return line;
}

/// All tables of the standard library: "torchvision/resnet.names" and its text.
std::vector<std::pair<std::string, std::string>> standardTables() {
  std::vector<std::pair<std::string, std::string>> tables;
  const char* folder = std::getenv("TBEM_STDLIB");
  if (folder == nullptr || *folder == '\0') {
    for (const auto& file : names::files()) tables.emplace_back(file.name, file.text);
    return tables;
  }
  const std::filesystem::path root = std::filesystem::path(folder) / "names";
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, ignored)) {
    if (entry.path().extension() != ".names") continue;
    if (const auto file = data::MappedFile::open(entry.path().string()))
      tables.emplace_back(entry.path().lexically_relative(root).generic_string(), file->text());
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

tl::expected<std::vector<NameRule>, std::string> parsed(const std::string& where, std::string_view text) {
  auto rules = parseNameTable(text);
  if (!rules) return Failure(fmt::format("{}: {}", where, rules.error()));
  return rules;
}

}  // namespace

std::string listed(std::span<const std::string> names) {
  constexpr std::size_t kShown = 6;
  const std::string more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(names.first(std::min(names.size(), kShown)), ", "), more);
}

tl::expected<std::vector<NameRule>, std::string> parseNameTable(std::string_view text) {
  std::vector<NameRule> rules;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(withoutComment(line));
    NameRule rule;
    rule.line = number;
    std::string more;
    if (!(words >> rule.theirs)) continue;
    if (!(words >> rule.ours) || words >> more) {
      return Failure(fmt::format("line {}: two patterns were expected, theirs and ours (or `-`)", number));
    }
    if (const std::size_t slash = rule.theirs.rfind('/');
        slash != std::string::npos && slash + 2 == rule.theirs.size() && isDigit(rule.theirs.back())) {
      rule.rank = static_cast<std::size_t>(rule.theirs.back() - '0');
      rule.theirs.resize(slash);
    }
    if (rule.ours == "-") rule.ours.clear();
    rules.push_back(std::move(rule));
  }
  return rules;
}

tl::expected<std::vector<NameRule>, std::string> loadNameTable(const std::string& set, const std::string& network) {
  if (set.find_first_of("./") != std::string::npos) {
    const auto file = data::MappedFile::open(set);
    if (!file) return Failure(file.error());
    return parsed(set, file->text());
  }
  const std::string wanted = fmt::format("{}/{}.names", set, network);
  std::vector<std::string> there;
  for (const auto& [name, text] : standardTables()) {
    if (name == wanted) return parsed("std/names/" + name, text);
    there.emplace_back(name.substr(0, name.rfind('.')));
  }
  return Failure(
      fmt::format("no table gives the names of `{}` for the network `{}` (there are {}): write one and give its path to --names",
                  set, network, there.empty() ? "none" : nearestFew(wanted, there)));
}

bool isNamed(std::span<const NameRule> rules, const NamedRank& theirs) {
  return std::ranges::any_of(
      rules, [&](const NameRule& rule) { return (!rule.rank || *rule.rank == theirs.rank) && match(rule.theirs, theirs.name); });
}

tl::expected<std::vector<std::size_t>, std::string> matchNames(std::span<const NameRule> rules, std::span<const NamedRank> theirs,
                                                               std::span<const std::string> ours) {
  std::vector<std::size_t> result(theirs.size(), kUnmatched);
  std::vector<bool> theirTaken(theirs.size(), false), ourTaken(ours.size(), false);
  for (const NameRule& rule : rules) {
    std::vector<bool> closed = theirTaken;
    for (std::size_t i = 0; i < theirs.size(); ++i) closed[i] = closed[i] || (rule.rank && theirs[i].rank != *rule.rank);
    const std::vector<Found> left = findAll(rule.theirs, closed, [&](std::size_t i) { return theirs[i].name; });
    for (const Found& found : left) theirTaken[found.index] = true;
    if (rule.ours.empty()) {
      for (const Found& found : left) result[found.index] = kUnused;
      continue;
    }
    const std::vector<Found> right = findAll(rule.ours, ourTaken, [&](std::size_t i) { return std::string_view(ours[i]); });
    if (left.size() != right.size()) {
      const bool fileHasMore = left.size() > right.size();
      const std::vector<Found>& more = fileHasMore ? left : right;
      std::vector<std::string> alone;  // names pair in the order of their numbers, so the last ones have no partner
      for (std::size_t i = std::min(left.size(), right.size()); i < more.size(); ++i)
        alone.push_back(fmt::format("`{}`", fileHasMore ? theirs[more[i].index].name : ours[more[i].index]));
      return Failure(
          fmt::format("line {} of the table of names: `{}` matches {} arrays of the file, `{}` matches {} of the network; "
                      "without a partner: {}",
                      rule.line, rule.theirs, left.size(), rule.ours, right.size(), listed(alone)));
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      result[left[i].index] = right[i].index;
      ourTaken[right[i].index] = true;
    }
  }
  return result;
}

}  // namespace tbem::driver
