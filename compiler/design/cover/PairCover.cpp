#include "compiler/design/cover/PairCover.h"

#include "compiler/design/array/Popcount.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tbem::design {

namespace {
constexpr std::size_t kBits = 64;

std::int64_t has(const std::uint64_t* set, std::size_t l) {
  return static_cast<std::int64_t>(set[l / kBits] >> (l % kBits) & 1U);
}
}  // namespace

PairCover::PairCover(ValidRows& valid) {
  const std::vector<std::uint32_t>& levels = valid.constraints().levels;
  for (std::uint32_t f = 0; f < levels.size(); ++f) {
    offsets.push_back(literals);
    literals += levels[f];
    factorOf.insert(factorOf.end(), levels[f], f);
  }
  words = (literals + kBits - 1) / kBits;
  counts.assign(literals * literals, 0);
  position.assign(literals * literals, 0);
  zero.assign(literals * words, 0);
  once.assign(literals * words, 0);
  for (std::uint32_t f = 0; f < levels.size(); ++f) {
    for (std::uint32_t g = f + 1; g < levels.size(); ++g) {
      std::uint64_t block = 0;
      for (std::uint32_t a = 0; a < levels[f]; ++a) {
        for (std::uint32_t b = 0; b < levels[g]; ++b) {
          const Literal pair[] = {{f, a}, {g, b}};
          if ((valid.constrained(f) || valid.constrained(g)) && !valid.possible(pair)) continue;
          ++block;
          const std::size_t la = literal(f, a), lb = literal(g, b);
          mark(zero, la, lb);
          position[la * literals + lb] = static_cast<std::uint32_t>(missing.size());
          missing.push_back(la * literals + lb);
        }
      }
      largest = std::max(largest, block);
      total += block;
    }
  }
}

/// Flips a pair's bit on both sides.
void PairCover::mark(std::vector<Word>& set, std::size_t a, std::size_t b) {
  set[a * words + b / kBits] ^= Word{1} << (b % kBits);
  set[b * words + a / kBits] ^= Word{1} << (a % kBits);
}

std::int64_t PairCover::common(const Word* a, const Word* b) const {
  std::int64_t sum = 0;
  for (std::size_t w = 0; w < words; ++w) sum += std::popcount(a[w] & b[w]);
  return sum;
}

Combination PairCover::pick(Random& random) const {
  const std::uint64_t pair = missing[random.below(static_cast<std::uint32_t>(missing.size()))];
  Combination both;
  for (const std::size_t l : {pair / literals, pair % literals})
    both.push_back({factorOf[l], static_cast<std::uint32_t>(l - offsets[factorOf[l]])});
  return both;
}

void PairCover::cover(std::size_t a, std::size_t b) {
  if (a > b) std::swap(a, b);
  const std::size_t index = a * literals + b;
  const std::uint32_t now = ++counts[index];
  if (now > 2) return;
  mark(once, a, b);
  if (now == 2) return;
  mark(zero, a, b);
  position[missing.back()] = position[index];
  missing[position[index]] = missing.back();
  missing.pop_back();
}

void PairCover::uncover(std::size_t a, std::size_t b) {
  if (a > b) std::swap(a, b);
  const std::size_t index = a * literals + b;
  const std::uint32_t now = --counts[index];
  if (now > 1) return;
  mark(once, a, b);
  if (now == 1) return;
  mark(zero, a, b);
  position[index] = static_cast<std::uint32_t>(missing.size());
  missing.push_back(index);
}

void PairCover::append(const std::vector<std::uint32_t>& row) {
  cells.push_back(row);
  bits.resize(bits.size() + words, 0);
  Word* set = bits.data() + (cells.size() - 1) * words;
  for (std::size_t f = 0; f < row.size(); ++f) {
    const std::size_t a = literal(f, row[f]);
    set[a / kBits] |= Word{1} << (a % kBits);
    for (std::size_t g = f + 1; g < row.size(); ++g) cover(a, literal(g, row[g]));
  }
}

void PairCover::drop(std::size_t index) {
  const std::vector<std::uint32_t> row = std::move(cells[index]);
  for (std::size_t f = 0; f < row.size(); ++f) {
    for (std::size_t g = f + 1; g < row.size(); ++g) uncover(literal(f, row[f]), literal(g, row[g]));
  }
  if (index + 1 < cells.size()) {
    cells[index] = std::move(cells.back());
    std::copy_n(bitsOf(cells.size() - 1), words, bits.data() + index * words);
  }
  cells.pop_back();
  bits.resize(bits.size() - words);
}

void PairCover::change(std::size_t index, std::span<const Literal> changes) {
  std::vector<std::uint32_t>& row = cells[index];
  Word* set = bits.data() + index * words;
  // All old levels go before a new one comes: in between, the row would hold pairs that no valid row holds.
  for (const Literal& to : changes) {
    const std::size_t old = literal(to.factor, row[to.factor]);
    row[to.factor] = ValidRows::kFree;
    set[old / kBits] ^= Word{1} << (old % kBits);
    for (std::size_t g = 0; g < row.size(); ++g) {
      if (row[g] != ValidRows::kFree) uncover(old, literal(g, row[g]));
    }
  }
  for (const Literal& to : changes) {
    const std::size_t fresh = literal(to.factor, to.level);
    for (std::size_t g = 0; g < row.size(); ++g) {
      if (row[g] != ValidRows::kFree) cover(fresh, literal(g, row[g]));
    }
    set[fresh / kBits] ^= Word{1} << (fresh % kBits);
    row[to.factor] = to.level;
  }
}

TBEM_POPCOUNT std::int64_t PairCover::gain(std::size_t index, std::span<const Literal> changes) {
  const std::vector<std::uint32_t>& row = cells[index];
  const Word* before = bitsOf(index);
  after.assign(before, before + words);
  for (const Literal& to : changes) {
    const std::size_t old = literal(to.factor, row[to.factor]), fresh = literal(to.factor, to.level);
    after[old / kBits] ^= Word{1} << (old % kBits);
    after[fresh / kBits] ^= Word{1} << (fresh % kBits);
  }
  std::int64_t gained = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t old = literal(changes[i].factor, row[changes[i].factor]),
                      fresh = literal(changes[i].factor, changes[i].level);
    gained += common(zeroOf(fresh), after.data()) - common(onceOf(old), before);
    for (std::size_t j = 0; j < i; ++j) {  // pairs of two changed cells count once
      const std::size_t otherOld = literal(changes[j].factor, row[changes[j].factor]);
      const std::size_t otherFresh = literal(changes[j].factor, changes[j].level);
      gained += has(onceOf(old), otherOld) - has(zeroOf(fresh), otherFresh);
    }
  }
  return gained;
}

void PairCover::denseGains(const std::vector<std::uint32_t>& row, std::uint32_t factor, std::vector<std::uint32_t>& gains) const {
  const std::size_t first = literal(factor, 0), end = factor + 1 < row.size() ? offsets[factor + 1] : literals;
  gains.assign(end - first, 0);
  for (std::uint32_t g = 0; g < factor; ++g) {
    const std::size_t before = literal(g, row[g]);
    for (std::size_t level = 0; level < gains.size(); ++level)
      gains[level] += static_cast<std::uint32_t>(has(zeroOf(first + level), before));
  }
}

TBEM_POPCOUNT std::uint64_t PairCover::onlyIn(std::size_t index) const {
  std::int64_t sum = 0;
  for (std::size_t f = 0; f < cells[index].size(); ++f) sum += common(onceOf(literal(f, cells[index][f])), bitsOf(index));
  return static_cast<std::uint64_t>(sum / 2);
}

}  // namespace tbem::design
