#include "compiler/design/cover/TupleCover.h"

#include "compiler/design/array/ColumnChoice.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {
constexpr std::size_t kBits = 64;
}  // namespace

std::optional<std::uint64_t> TupleCover::counters(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  // Elementary symmetric polynomials of the numbers of levels.
  std::vector<std::uint64_t> sums(strength + 1, 0);
  sums[0] = 1;
  for (const std::uint32_t s : levels) {
    for (std::uint32_t t = strength; t > 0; --t) sums[t] = std::min(sums[t] + sums[t - 1] * s, kMostCounters + 1);
  }
  return sums[strength] > kMostCounters ? std::nullopt : std::optional(sums[strength]);
}

TupleCover::TupleCover(ValidRows& valid, std::uint32_t strength) : levels(valid.constraints().levels), strength(strength) {
  const auto factors = static_cast<std::uint32_t>(levels.size());
  choicesOf.resize(factors);
  std::size_t count = 0;
  for (std::uint32_t last = 0; last < factors; ++last) {
    firstEnding.push_back(choices());
    if (last + 1 < strength) continue;
    std::vector<std::uint32_t> choice(strength - 1);
    std::iota(choice.begin(), choice.end(), 0U);
    do {
      choice.push_back(last);
      for (const std::uint32_t f : choice) choicesOf[f].push_back(static_cast<std::uint32_t>(choices()));
      columns.insert(columns.end(), choice.begin(), choice.end());
      offsets.push_back(count);
      std::size_t block = 1;
      for (const std::uint32_t f : choice) block *= levels[f];
      count += block;
      choice.pop_back();
    } while (nextChoice(choice, last));
  }
  firstEnding.push_back(choices());
  counts.assign(count, 0);
  position.assign(count, 0);
  for (std::size_t c = 0; c < choices(); ++c) require(valid, c);
}

/// Puts the combinations of one choice that valid rows hold on the list of what is missing.
void TupleCover::require(ValidRows& valid, std::size_t choice) {
  const auto chosen = columnsOf(choice);
  const bool free = std::none_of(chosen.begin(), chosen.end(), [&](std::uint32_t f) { return valid.constrained(f); });
  Combination tuple;
  for (const std::uint32_t f : chosen) tuple.push_back({f, 0});
  const std::size_t end = choice + 1 < choices() ? offsets[choice + 1] : counts.size();
  const std::size_t before = missing.size();
  const auto add = [&](std::size_t index) {
    position[index] = static_cast<std::uint32_t>(missing.size());
    missing.push_back(static_cast<std::uint32_t>(index));
  };
  for (std::size_t index = offsets[choice]; index < end && free; ++index) add(index);
  for (std::size_t index = offsets[choice]; index < end && !free; ++index) {
    std::size_t rest = index - offsets[choice];
    for (std::size_t i = chosen.size(); i-- > 0;) {
      tuple[i].level = static_cast<std::uint32_t>(rest % levels[chosen[i]]);
      rest /= levels[chosen[i]];
    }
    if (valid.possible(tuple)) add(index);
  }
  total = missing.size();
  largest = std::max<std::uint64_t>(largest, missing.size() - before);
}

std::size_t TupleCover::indexOf(std::size_t choice, const std::vector<std::uint32_t>& row) const {
  std::size_t index = 0;
  for (const std::uint32_t f : columnsOf(choice)) index = index * levels[f] + row[f];
  return offsets[choice] + index;
}

/// The first that is open from a random place on.
std::size_t TupleCover::pickOpen(Random& random) const {
  std::size_t word = random.below(static_cast<std::uint32_t>(open.size()));
  while (open[word] == 0) word = word + 1 < open.size() ? word + 1 : 0;
  return word * kBits + static_cast<std::size_t>(std::countr_zero(open[word]));
}

Combination TupleCover::pick(Random& random) const {
  const std::size_t index = isDense ? pickOpen(random) : missing[random.below(static_cast<std::uint32_t>(missing.size()))];
  const auto choice = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), index) - offsets.begin() - 1);
  Combination tuple;
  for (const std::uint32_t f : columnsOf(choice)) tuple.push_back({f, 0});
  std::size_t rest = index - offsets[choice];
  for (std::size_t i = tuple.size(); i-- > 0;) {
    tuple[i].level = static_cast<std::uint32_t>(rest % levels[tuple[i].factor]);
    rest /= levels[tuple[i].factor];
  }
  return tuple;
}

void TupleCover::cover(std::size_t index) {
  if (++counts[index] > 1) return;
  position[missing.back()] = position[index];
  missing[position[index]] = missing.back();
  missing.pop_back();
}

void TupleCover::uncover(std::size_t index) {
  if (--counts[index] > 0) return;
  position[index] = static_cast<std::uint32_t>(missing.size());
  missing.push_back(static_cast<std::uint32_t>(index));
}

void TupleCover::append(const std::vector<std::uint32_t>& row) {
  cells.push_back(row);
  for (std::size_t c = 0; c < choices(); ++c) cover(indexOf(c, row));
}

void TupleCover::drop(std::size_t index) {
  for (std::size_t c = 0; c < choices(); ++c) uncover(indexOf(c, cells[index]));
  if (index + 1 < cells.size()) cells[index] = std::move(cells.back());
  cells.pop_back();
}

/// Calls `visit(choice)` once for every choice that holds a changed factor.
template <class Visit>
void TupleCover::eachTouched(std::span<const Literal> changes, Visit visit) const {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const std::uint32_t choice : choicesOf[changes[i].factor]) {
      const auto chosen = columnsOf(choice);
      const bool visited = std::any_of(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(i), [&](const Literal& l) {
        return std::find(chosen.begin(), chosen.end(), l.factor) != chosen.end();
      });
      if (!visited) visit(choice);
    }
  }
}

void TupleCover::change(std::size_t index, std::span<const Literal> changes) {
  std::vector<std::uint32_t>& row = cells[index];
  eachTouched(changes, [&](std::size_t choice) { uncover(indexOf(choice, row)); });
  for (const Literal& to : changes) row[to.factor] = to.level;
  eachTouched(changes, [&](std::size_t choice) { cover(indexOf(choice, row)); });
}

std::int64_t TupleCover::gain(std::size_t index, std::span<const Literal> changes) {
  const std::vector<std::uint32_t>& row = cells[index];
  scratch = row;
  for (const Literal& to : changes) scratch[to.factor] = to.level;
  std::int64_t gained = 0;
  eachTouched(changes, [&](std::size_t choice) {
    gained += counts[indexOf(choice, scratch)] == 0 ? 1 : 0;
    gained -= counts[indexOf(choice, row)] == 1 ? 1 : 0;
  });
  return gained;
}

void TupleCover::startDense() {
  isDense = true;
  open.assign((counts.size() + kBits - 1) / kBits, 0);
  for (const std::uint32_t index : missing) open[index / kBits] |= std::uint64_t{1} << (index % kBits);
  openCount = missing.size();
}

void TupleCover::denseGains(const std::vector<std::uint32_t>& row, std::uint32_t factor,
                            std::vector<std::uint32_t>& gains) const {
  gains.assign(levels[factor], 0);
  for (std::size_t choice = firstEnding[factor]; choice < firstEnding[factor + 1]; ++choice) {
    std::size_t index = 0;
    for (const std::uint32_t f : columnsOf(choice).first(strength - 1)) index = index * levels[f] + row[f];
    index = offsets[choice] + index * levels[factor];
    for (std::size_t level = 0; level < gains.size(); ++level)
      gains[level] += static_cast<std::uint32_t>(open[(index + level) / kBits] >> ((index + level) % kBits) & 1U);
  }
}

void TupleCover::appendDense(const std::vector<std::uint32_t>& row) {
  cells.push_back(row);
  for (std::size_t choice = 0; choice < choices(); ++choice) {
    const std::size_t index = indexOf(choice, row);
    const std::uint64_t bit = std::uint64_t{1} << (index % kBits);
    openCount -= (open[index / kBits] & bit) != 0 ? 1 : 0;
    open[index / kBits] &= ~bit;
  }
}

std::uint64_t TupleCover::onlyIn(std::size_t index) const {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < choices(); ++c) sum += counts[indexOf(c, cells[index])] == 1 ? 1 : 0;
  return sum;
}

}  // namespace tbem::design
