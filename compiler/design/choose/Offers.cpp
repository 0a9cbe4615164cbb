#include "compiler/design/choose/Offers.h"

#include "compiler/design/choose/Plans.h"
#include "compiler/design/choose/PrimeParts.h"
#include "compiler/design/verify/Bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// The numbers of levels that change least, by how much: every factor at one number.
struct Candidate {
  std::uint64_t change = 0;
  std::uint32_t level = 0;
  std::uint64_t runs = 0;
};

std::vector<Candidate> equalLevels(const Levels& varying, std::uint32_t strength, std::size_t maxRows) {
  constexpr std::size_t kOffers = 2, kTried = 6;
  std::vector<Candidate> candidates;
  const std::uint32_t most = *std::max_element(varying.begin(), varying.end());
  for (std::uint32_t s = 2; s <= std::min<std::uint32_t>(2 * most, 128); ++s) {
    Candidate candidate{0, s, 0};
    for (const std::uint32_t level : varying) candidate.change += level > s ? level - s : s - level;
    if (candidate.change != 0) candidates.push_back(candidate);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.change < b.change; });
  if (candidates.size() > kTried) candidates.resize(kTried);
  std::vector<Candidate> offers;
  for (Candidate& candidate : candidates) {
    const auto plans = plansFor(Levels(varying.size(), candidate.level), strength, maxRows, false);
    if (plans.empty() || offers.size() == kOffers) continue;
    candidate.runs = plans.front().runs;
    offers.push_back(candidate);
  }
  return offers;
}

void addLevelOffers(Refusal& refusal, const Levels& levels, const Levels& varying, std::uint32_t strength, std::size_t maxRows) {
  for (const Candidate& candidate : equalLevels(varying, strength, maxRows)) {
    Offer offer{Offer::Kind::Levels, "", candidate.runs, levels};
    for (std::uint32_t& level : offer.levels) level = level < 2 ? level : candidate.level;
    const Levels same(varying.size(), candidate.level);
    offer.text = fmt::format("{} levels for each factor: {}", candidate.level,
                             varying.size() <= strength ? factorialName(same) : arrayName(candidate.runs, same));
    refusal.offers.push_back(std::move(offer));
  }
}

/// The smallest array whose columns have the levels rounded up to powers of 2 or of 3, where it has fewer rows than any array of
/// these levels.
void addDummyOffer(Refusal& refusal, const Levels& varying, std::uint32_t strength, std::size_t maxRows) {
  std::optional<Offer> best;
  for (const std::uint32_t p : {2U, 3U}) {
    Levels wide;
    for (const std::uint32_t level : varying) {
      std::uint32_t power = p;
      while (power < level && power <= UINT32_MAX / p) power *= p;
      wide.push_back(power);
    }
    const auto plans = plansFor(wide, strength, maxRows, false);
    if (wide == varying || plans.empty() || plans.front().runs >= refusal.smallestPossible) continue;
    if (best && best->runs <= plans.front().runs) continue;
    const std::string name = arrayName(plans.front().runs, wide);
    best = Offer{Offer::Kind::Dummy,
                 fmt::format("`array \"{}\"`: dummy levels; the first levels of some factors stand more often", name),
                 plans.front().runs, wide};
  }
  if (best) refusal.offers.push_back(std::move(*best));
}

}  // namespace

Refusal refuse(const Levels& levels, std::uint32_t strength, std::size_t maxRows, std::string reason) {
  Refusal refusal;
  refusal.reason = std::move(reason);
  Levels varying;
  std::uint64_t all = 1;
  for (const std::uint32_t level : levels) {
    if (level > 1) varying.push_back(level);
    if (level > 0) all = all > UINT64_MAX / level ? 0 : all * level;
  }
  const Bounds bound = bounds(varying, strength);
  refusal.smallestPossible = bound.smallest;
  if (bound.smallest != 0)
    refusal.boundReason = fmt::format("a multiple of {}, and at least {} by Rao's bound{}", bound.divisor, bound.rao,
                                      bound.smallest - bound.rao >= bound.divisor ? fmt::format("; {}", bound.by) : "");
  if (all != 0 && all <= maxRows) refusal.offers.push_back({Offer::Kind::Full, fmt::format("`full`: all {} rows", all), all, {}});
  if (!varying.empty() && plansFor(varying, strength, maxRows, false).empty())
    addLevelOffers(refusal, levels, varying, strength, maxRows);
  if (varying.size() > strength && bound.smallest != 0) addDummyOffer(refusal, varying, strength, maxRows);
  if (strength > 2 && varying.size() > strength) {
    const auto plans = plansFor(varying, 2, maxRows, false);
    if (!plans.empty()) {
      refusal.offers.push_back({Offer::Kind::Strength,
                                fmt::format("`strength 2`: {}", arrayName(plans.front().runs, varying)),
                                plans.front().runs,
                                {}});
    }
  }
  return refusal;
}

void addRowOffers(Refusal& refusal, const Levels& varying, std::uint32_t strength, std::size_t maxRows, std::uint64_t wanted) {
  std::set<std::uint64_t> sizes;
  for (const Plan& plan : plansFor(varying, strength, maxRows, true)) {
    const std::uint64_t below = wanted / plan.runs * plan.runs;
    if (below != 0) sizes.insert(below);
    if (below + plan.runs <= maxRows) sizes.insert(below + plan.runs);
  }
  const auto above = sizes.upper_bound(wanted);
  if (above != sizes.begin()) {
    const std::uint64_t below = *std::prev(above);
    refusal.offers.push_back({Offer::Kind::Rows, fmt::format("`rows {}`", below), below, {}});
  }
  if (above != sizes.end()) refusal.offers.push_back({Offer::Kind::Rows, fmt::format("`rows {}`", *above), *above, {}});
}

std::string whyNot(const Levels& varying, std::uint32_t strength, std::size_t maxRows) {
  const Bounds bound = bounds(varying, strength);
  if (bound.smallest == 0 || bound.smallest > maxRows)
    return fmt::format("a strength-{} array of these levels has more than {} rows", strength, maxRows);
  constexpr std::size_t kHuge = std::size_t{1} << 40;
  if (const auto parts = varying.empty() ? std::nullopt : primePartsPlan(varying, strength, kHuge, kHuge)) {
    return fmt::format(
        "no construction that is here gives strength {} for {} with at most {} rows and {} cells; the product of the arrays of "
        "each "
        "prime has {} rows, {} cells",
        strength, levelText(varying), maxRows, kMostCells, parts->runs, parts->runs * varying.size());
  }
  return fmt::format("no construction that is here gives strength {} for {} with fewer rows than every combination has", strength,
                     levelText(varying));
}

}  // namespace tbem::design
