// Breaches of a design while its structures are looked at. Internal to this folder.
#pragma once

#include "compiler/spec/network/NestedLevels.h"

#include <map>
#include <utility>
#include <vector>

namespace tbem::spec {

/// Combinations that are listed one by one, at most.
inline constexpr std::size_t kMaxListed = std::size_t{1} << 20;

/// Joins what breaks the same condition at the same call in several structures, whose boxes of levels have nothing in common.
class BreachTable {
public:
  explicit BreachTable(const LevelQuestion& question) : question(question), spec(*question.spec) {}

  /// `failing`: combinations of the box that break it, each with other levels of `factors`; those that agree with one of them in
  /// `factors` do too. False: those that the design's `where` allows are too many to be counted, and nothing was added.
  bool add(const Breach& breach, const LevelBox& box, const std::vector<std::uint32_t>& factors,
           const std::vector<std::vector<std::uint32_t>>& failing);
  /// With rows, causes and counts, in the order of the text.
  std::vector<Breach> finish();

private:
  using Levels = std::vector<std::uint32_t>;
  struct Part {
    LevelBox box;
    std::vector<std::uint32_t> factors;
    std::vector<Levels> failing;
  };
  struct Entry {
    Breach breach;
    std::vector<Part> parts;
  };

  std::size_t changes(const Levels& levels) const;
  void meet(Breach& breach, const Levels& levels, std::uint64_t count) const;
  std::size_t rowsOf(const Part& part) const;
  bool isNarrow(const LevelBox& box, std::size_t factor) const;
  void explain(Entry& entry) const;

  const LevelQuestion& question;
  const graph::ExperimentSpec& spec;
  std::vector<Entry> entries;
  std::map<std::pair<Loc, Loc>, std::size_t> places;  ///< of an entry, by its use and condition
};

}  // namespace tbem::spec
