#include "compiler/design/field/FourCirculants.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace tbem::design {

namespace {

using Sequence = std::vector<std::int8_t>;

/// Bit i of a number: the cells of orbit i of the multiplier are -1; orbits by their least cell, from that of 0 on. Orders 92
/// (Baumert, Golomb and Hall 1962), 116 (Baumert 1966), 156, 172 (Williamson 1944), 268 (Sawade 1985), 292, 372; these rows were
/// found by a search over the orbits.
struct OrbitRows {
  std::uint32_t n = 0, multiplier = 0;
  std::array<std::uint32_t, 4> rows{};
};
constexpr std::array<OrbitRows, 7> kOrbitRows{{{23, 22, {0xc26, 0x4a8, 0x14e, 0x63e}},
                                               {29, 28, {0x5e6, 0x1622, 0xd76, 0x614c}},
                                               {39, 29, {0x178, 0x14d, 0x1f, 0x1c8}},
                                               {43, 4, {0x34, 0x26, 0x2a, 0x13}},
                                               {67, 29, {0x338ee, 0x1d8eb, 0x1f05b, 0x1d687}},
                                               {73, 2, {0x9b, 0xcc, 0x79, 0x8b}},
                                               {93, 2, {0xa1f, 0xc74, 0x1499, 0xf3}}}};

FourCirculants ofOrbits(const OrbitRows& entry) {
  FourCirculants result;
  for (Sequence& row : result.rows) row.assign(entry.n, 0);
  for (std::uint32_t least = 0, orbit = 0; least < entry.n; ++least) {
    if (result.rows[0][least] != 0) continue;
    for (std::uint32_t x = least; result.rows[0][x] == 0; x = x * entry.multiplier % entry.n) {
      for (std::size_t i = 0; i < 4; ++i) result.rows[i][x] = (entry.rows[i] >> orbit & 1) != 0 ? -1 : 1;
    }
    ++orbit;
  }
  result.words = fmt::format("four circulants of order {}, constant on the orbits of {}", entry.n, entry.multiplier);
  return result;
}

/// The rows of base sequences: a and b of one length, c and d of another, whose aperiodic autocorrelations add to 0 (Turyn 1974).
std::array<Sequence, 4> ofBaseSequences(const Sequence& a, const Sequence& b, const Sequence& c, const Sequence& d) {
  const auto joined = [](Sequence first, const Sequence& second, std::int8_t sign) {
    for (const std::int8_t x : second) first.push_back(static_cast<std::int8_t>(sign * x));
    return first;
  };
  return {joined(a, c, 1), joined(a, c, -1), joined(b, d, 1), joined(b, d, -1)};
}

/// Golay's pairs (1961) of these lengths; doubled as often as it takes.
struct GolayPair {
  std::string_view a, b;
};
constexpr std::array<GolayPair, 3> kGolay{
    {{"+", "+"}, {"++-+-+--++", "++-+++++--"}, {"++++-++--+-+-+--+-+++--+++", "++++-++--+-+++++-+---++---"}}};

Sequence signs(std::string_view text) {
  Sequence result;
  for (const char c : text) result.push_back(c == '+' ? 1 : -1);
  return result;
}

const GolayPair* golayPair(std::uint32_t length) {
  for (const GolayPair& pair : kGolay) {
    std::size_t reached = pair.a.size();
    while (reached < length) reached *= 2;
    if (reached == length) return &pair;
  }
  return nullptr;
}

FourCirculants ofGolay(const GolayPair& pair, std::uint32_t n) {
  Sequence a = signs(pair.a), b = signs(pair.b);
  while (2 * a.size() + 1 < n) {
    Sequence sum = a, difference = a;
    for (const std::int8_t x : b) {
      sum.push_back(x);
      difference.push_back(static_cast<std::int8_t>(-x));
    }
    a = std::move(sum);
    b = std::move(difference);
  }
  Sequence first{1}, second{1};
  for (const std::int8_t x : a) {
    first.push_back(x);
    second.push_back(static_cast<std::int8_t>(-x));
  }
  return {ofBaseSequences(first, second, b, b),
          fmt::format("four circulants of order {} from a Golay pair of length {}", n, a.size())};
}

/// x, y, z of length m, w of m - 1, a bit for -1: the autocorrelations of x and y and twice those of z and w add to 0. Found by a
/// search from both ends, as Turyn's (1974).
struct TurynType {
  std::uint32_t length = 0, x = 0, y = 0, z = 0, w = 0;
};
constexpr std::array<TurynType, 2> kTurynType{{{16, 0x91ee, 0xc88a, 0x7cf6, 0x5a83}, {20, 0xd507c, 0xcb5fa, 0xcb105, 0x331a0}}};

FourCirculants ofTurynType(const TurynType& entry) {
  const auto sequence = [](std::uint32_t bits, std::uint32_t length) {
    Sequence result;
    for (std::uint32_t i = 0; i < length; ++i) result.push_back((bits >> i & 1) != 0 ? -1 : 1);
    return result;
  };
  Sequence a = sequence(entry.z, entry.length), b = a;
  for (const std::int8_t x : sequence(entry.w, entry.length - 1)) {
    a.push_back(x);
    b.push_back(static_cast<std::int8_t>(-x));
  }
  return {ofBaseSequences(a, b, sequence(entry.x, entry.length), sequence(entry.y, entry.length)),
          fmt::format("four circulants of order {} from Turyn-type sequences of length {}", 3 * entry.length - 1, entry.length)};
}

template <class Entries, class Fits>
auto findIf(const Entries& entries, Fits fits) -> decltype(entries.data()) {
  for (const auto& entry : entries) {
    if (fits(entry)) return &entry;
  }
  return nullptr;
}

const OrbitRows* orbitRows(std::uint32_t n) {
  return findIf(kOrbitRows, [n](const OrbitRows& entry) { return entry.n == n; });
}
const TurynType* turynType(std::uint32_t n) {
  return findIf(kTurynType, [n](const TurynType& entry) { return 3 * entry.length - 1 == n; });
}

}  // namespace

bool fourCirculantsReach(std::uint32_t n) {
  return n % 2 == 1 && n > 1 && (orbitRows(n) != nullptr || turynType(n) != nullptr || golayPair((n - 1) / 2) != nullptr);
}

std::optional<FourCirculants> fourCirculants(std::uint32_t n) {
  if (!fourCirculantsReach(n)) return std::nullopt;
  if (const OrbitRows* entry = orbitRows(n)) return ofOrbits(*entry);
  if (const TurynType* entry = turynType(n)) return ofTurynType(*entry);
  return ofGolay(*golayPair((n - 1) / 2), n);
}

}  // namespace tbem::design
