#include "compiler/design/choose/ArrayChoice.h"

#include "compiler/design/array/Random.h"
#include "compiler/design/choose/Offers.h"
#include "compiler/design/choose/Plans.h"
#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// What all steps of a choice look at.
struct Task {
  const Levels& levels;        ///< of all factors
  Levels varying;              ///< of those with two levels or more
  std::uint32_t strength = 0;  ///< asked for
  const Options& options;
};

template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % i;
    std::uint64_t draw = random.bits();
    while (draw >= limit) draw = random.bits();
    std::swap(items[i - 1], items[draw % i]);
  }
}

/// Permutes columns of equal levels and the labels within each column: another array of the same kind.
void randomise(Array& array, std::uint64_t seed) {
  Random random(seed);
  std::map<std::uint32_t, std::vector<std::size_t>> byLevels;
  for (std::size_t c = 0; c < array.columns(); ++c) byLevels[array.levels[c]].push_back(c);
  std::vector<std::size_t> from(array.columns());
  for (auto& [s, columns] : byLevels) {
    std::vector<std::size_t> order = columns;
    shuffle(order, random);
    for (std::size_t i = 0; i < columns.size(); ++i) from[columns[i]] = order[i];
  }
  const Array old = array;
  for (std::size_t c = 0; c < array.columns(); ++c) {
    std::vector<std::uint32_t> labels(array.levels[c]);
    for (std::uint32_t i = 0; i < labels.size(); ++i) labels[i] = i;
    shuffle(labels, random);
    for (std::size_t r = 0; r < array.runs; ++r) array.at(r, c) = labels[old.at(r, from[c])];
  }
  array.construction += fmt::format("; columns and levels shuffled by seed {}", seed);
}

/// Constant columns put back, rows repeated, names given, verified.
Choice finish(const Task& task, Array built, std::uint32_t replicates) {
  if (countingCost(built, built.strength) > kMostCounted)
    return refuse(task.levels, task.strength, task.options.maxRows, "its strength would take too long to verify");
  if (const auto wrong = findImbalance(built, built.strength)) {
    return refuse(
        task.levels, task.strength, task.options.maxRows,
        fmt::format("the array that was built ({}) is not balanced: this is a bug of the compiler", built.construction));
  }
  if (task.options.seed) randomise(built, *task.options.seed);
  Array array;
  array.levels = task.levels;
  array.strength = built.strength;
  array.replicates = replicates;
  array.runs = built.runs * replicates;
  array.construction = std::move(built.construction);
  array.cells.reserve(array.runs * task.levels.size());
  for (std::uint32_t copy = 0; copy < replicates; ++copy) {
    for (std::size_t r = 0; r < built.runs; ++r) {
      std::size_t c = 0;
      for (const std::uint32_t s : task.levels) array.cells.push_back(s < 2 ? 0 : built.at(r, c++));
    }
  }
  const bool full = built.strength == built.columns();
  array.name = task.varying.empty() ? "one row" : full ? factorialName(task.varying) : arrayName(built.runs, task.varying);
  Bounds bound = bounds(task.varying, task.strength);
  if (bound.smallest != 0 && array.runs > bound.smallest) bound = sharpBounds(task.varying, task.strength);
  if (!task.options.full) {
    array.smallestPossible = bound.smallest;
    array.smallestBy = bound.by;
  }
  if (replicates > 1) array.name += fmt::format(", {} times", replicates);
  return array;
}

Choice refusal(const Task& task, std::string reason) {
  return refuse(task.levels, task.strength, task.options.maxRows, std::move(reason));
}

/// The array of exactly `runs` rows without repeating any array, or nothing.
std::optional<Array> exactly(const Levels& levels, std::uint32_t strength, std::uint64_t runs, std::size_t maxRows) {
  if (runs > maxRows) return std::nullopt;
  const auto plan = planAt(levels, strength, runs);
  if (plan) return plan->build();
  return std::nullopt;
}

/// Whether every row stands equally often, and more than once: then the array is copies of a smaller one.
bool repeatsItself(const Array& array) {
  const auto groups = duplicateRows(array);
  std::size_t rows = 0;
  for (const auto& group : groups) rows += group.size();
  return !groups.empty() && rows == array.runs &&
         std::all_of(groups.begin(), groups.end(), [&](const auto& group) { return group.size() == groups.front().size(); });
}

Choice chooseRows(const Task& task, std::int64_t rows) {
  if (rows < 1) return refusal(task, fmt::format("`rows {}` asks for no rows", rows));
  const auto wanted = static_cast<std::uint64_t>(rows);
  if (wanted > task.options.maxRows)
    return refusal(task, fmt::format("{} rows are more than the limit of {}", rows, task.options.maxRows));
  std::optional<std::pair<Array, std::uint32_t>> repeated;  // taken where the smaller array is not found by itself
  for (std::uint64_t copies = 1; copies <= wanted; ++copies) {
    if (wanted % copies != 0) continue;
    auto array = exactly(task.varying, task.strength, wanted / copies, task.options.maxRows);
    if (!array) continue;
    if (!repeatsItself(*array)) return finish(task, std::move(*array), static_cast<std::uint32_t>(copies));
    if (!repeated) repeated = {std::move(*array), static_cast<std::uint32_t>(copies)};
  }
  if (repeated) return finish(task, std::move(repeated->first), repeated->second);
  const Bounds bound = bounds(task.varying, task.strength);
  Choice choice = bound.divisor > 1 && wanted % bound.divisor != 0
                      ? refusal(task, fmt::format("{} rows: a strength-{} array of these levels has a multiple of {} rows", rows,
                                                  task.strength, bound.divisor))
                  : wanted < bound.smallest
                      ? refusal(task, fmt::format("{} rows: a strength-{} array of these levels has at least {}", rows,
                                                  task.strength, bound.smallest))
                      : refusal(task, fmt::format("no construction that is here gives {} rows of strength {} for these levels",
                                                  rows, task.strength));
  addRowOffers(std::get<Refusal>(choice), task.varying, task.strength, task.options.maxRows, wanted);
  return choice;
}

/// "L16(4^5)" -> 16 and {4,4,4,4,4}; "L16" -> 16 and nothing.
struct ParsedName {
  std::uint64_t runs = 0;
  Levels levels;
};
std::optional<std::uint64_t> readNumber(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}
void skipBlanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == ',' || text.front() == '*')) text.remove_prefix(1);
}
std::optional<ParsedName> parseName(std::string_view text) {
  ParsedName parsed;
  if (text.empty() || (text.front() != 'L' && text.front() != 'l')) return std::nullopt;
  text.remove_prefix(1);
  const auto runs = readNumber(text);
  if (!runs || *runs == 0) return std::nullopt;
  parsed.runs = *runs;
  skipBlanks(text);
  if (text.empty()) return parsed;
  if (text.front() != '(' || text.back() != ')') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  for (skipBlanks(text); !text.empty(); skipBlanks(text)) {
    const auto level = readNumber(text);
    std::uint64_t count = 1;
    if (!level || *level < 2 || *level > 65536) return std::nullopt;
    if (!text.empty() && text.front() == '^') {
      text.remove_prefix(1);
      const auto power = readNumber(text);
      if (!power || *power == 0 || *power > 65536) return std::nullopt;
      count = *power;
    }
    parsed.levels.insert(parsed.levels.end(), count, static_cast<std::uint32_t>(*level));
  }
  return parsed.levels.empty() ? std::nullopt : std::optional(parsed);
}

/// For each wanted level a column of `have` with as many levels, each used once; nothing if one is missing.
std::optional<std::vector<std::size_t>> columnsFor(const Levels& wanted, const Levels& have) {
  std::vector<bool> used(have.size(), false);
  std::vector<std::size_t> columns;
  for (const std::uint32_t s : wanted) {
    std::size_t c = 0;
    while (c < have.size() && (used[c] || have[c] != s)) ++c;
    if (c == have.size()) return std::nullopt;
    used[c] = true;
    columns.push_back(c);
  }
  return columns;
}

/// For each wanted level the column of `have` with the fewest levels that are enough, each used once; nothing if one is missing.
std::optional<std::vector<std::size_t>> widerColumnsFor(const Levels& wanted, const Levels& have) {
  std::vector<std::size_t> order(wanted.size()), columns(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] > wanted[b]; });
  std::vector<bool> used(have.size(), false);
  for (const std::size_t factor : order) {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < have.size(); ++c) {
      if (!used[c] && have[c] >= wanted[factor] && (!best || have[c] < have[*best])) best = c;
    }
    if (!best) return std::nullopt;
    used[*best] = true;
    columns[factor] = *best;
  }
  return columns;
}

Array keepColumns(const Array& parent, const std::vector<std::size_t>& columns) {
  Array array;
  array.runs = parent.runs;
  array.strength = std::min<std::uint32_t>(parent.strength, static_cast<std::uint32_t>(columns.size()));
  array.construction = parent.construction;
  for (const std::size_t c : columns) array.levels.push_back(parent.levels[c]);
  for (std::size_t r = 0; r < parent.runs; ++r) {
    for (const std::size_t c : columns) array.cells.push_back(parent.at(r, c));
  }
  return array;
}

/// The array with columns of more levels than the factors: a level too many stands for the first, second, ... one.
Choice chooseDummy(const Task& task, const Levels& wanted, std::uint64_t runs, const std::vector<std::size_t>& columns) {
  const auto parent = exactly(wanted, task.strength, runs, task.options.maxRows);
  if (!parent) return refusal(task, fmt::format("no construction that is here gives `{}`", task.options.arrayName));
  Array kept = keepColumns(*parent, columns);
  const Levels wide = kept.levels;
  Choice choice = finish({wide, wide, task.strength, task.options}, std::move(kept), 1);
  auto* array = std::get_if<Array>(&choice);
  if (array == nullptr) return choice;
  Array narrow = *array;
  narrow.levels = task.levels;
  narrow.cells.clear();
  narrow.strength = 0;
  narrow.smallestPossible = 0;
  narrow.name += ", dummy levels";
  narrow.construction +=
      fmt::format("; columns of {} hold {}: the first levels stand more often", levelText(wide), levelText(task.varying));
  for (std::size_t r = 0; r < narrow.runs; ++r) {
    std::size_t c = 0;
    for (const std::uint32_t s : task.levels) narrow.cells.push_back(s < 2 ? 0 : array->at(r, c++) % s);
  }
  return narrow;
}

Choice chooseNamed(const Task& task) {
  const std::string& name = task.options.arrayName;
  const auto parsed = parseName(name);
  if (!parsed) return refusal(task, fmt::format("`{}` is not a name of an array; such names are `L16` and `L16(4^5)`", name));
  const Levels& wanted = parsed->levels.empty() ? task.varying : parsed->levels;
  const auto columns = columnsFor(task.varying, wanted);
  if (const auto wider = widerColumnsFor(task.varying, wanted); !columns && wider)
    return chooseDummy(task, wanted, parsed->runs, *wider);
  if (!columns) return refusal(task, fmt::format("`{}` has no columns for factors of {} levels", name, levelText(task.varying)));
  const Bounds bound = bounds(wanted, task.strength);
  const auto parent = exactly(wanted, task.strength, parsed->runs, task.options.maxRows);
  if (parent) return finish(task, keepColumns(*parent, *columns), 1);
  if (bound.divisor > 1 && parsed->runs % bound.divisor != 0) {
    return refusal(task, fmt::format("`{}` cannot have strength {} with levels {}: its rows would be a multiple of {}", name,
                                     task.strength, levelText(wanted), bound.divisor));
  }
  return refusal(task, fmt::format("no construction that is here gives `{}` with levels {}", name, levelText(wanted)));
}

/// The smallest array that can be built; nothing where there is none.
std::optional<Choice> chooseSmallest(const Task& task) {
  for (const Plan& plan : plansFor(task.varying, task.strength, task.options.maxRows, false)) {
    if (auto array = plan.build()) return finish(task, std::move(*array), 1);
  }
  return std::nullopt;
}

Levels varyingOf(const Levels& levels) {
  Levels varying;
  std::copy_if(levels.begin(), levels.end(), std::back_inserter(varying), [](std::uint32_t s) { return s > 1; });
  return varying;
}

Choice chooseFull(const Task& task) {
  auto array = fullFactorial(task.varying, task.options.maxRows);
  if (!array) return refusal(task, fmt::format("the full factorial has more than {} rows", task.options.maxRows));
  return finish(task, std::move(*array), 1);
}

}  // namespace

Choice chooseArray(const std::vector<std::uint32_t>& levels, std::uint32_t strength, const Options& options) {
  const Task task{levels, varyingOf(levels), std::max<std::uint32_t>(1, strength), options};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] == 0) return Refusal{fmt::format("factor {} has no levels", i + 1), 0, "", {}};
  }
  if (!options.arrayName.empty()) {
    Choice named = chooseNamed(task);
    const auto* array = std::get_if<Array>(&named);
    if (array == nullptr || !options.rows || static_cast<std::uint64_t>(*options.rows) == array->runs) return named;
    return refusal(task, fmt::format("`{}` has {} rows, not {}", options.arrayName, array->runs, *options.rows));
  }
  if (options.full) {
    Choice full = chooseFull(task);
    const auto* array = std::get_if<Array>(&full);
    if (array == nullptr || !options.rows || static_cast<std::uint64_t>(*options.rows) == array->runs) return full;
    return refusal(task, fmt::format("the full factorial has {} rows, not {}", array->runs, *options.rows));
  }
  if (options.rows) return chooseRows(task, *options.rows);
  if (std::optional<Choice> smallest = chooseSmallest(task)) return std::move(*smallest);
  return refusal(task, whyNot(task.varying, task.strength, options.maxRows));
}

std::optional<Array> smallestArray(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRows) {
  Options options;
  options.maxRows = maxRows;
  std::optional<Choice> choice = chooseSmallest({levels, varyingOf(levels), std::max<std::uint32_t>(1, strength), options});
  auto* array = choice ? std::get_if<Array>(&*choice) : nullptr;
  return array == nullptr ? std::nullopt : std::optional(std::move(*array));
}

}  // namespace tbem::design
