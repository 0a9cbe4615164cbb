// The search for a composite that has the wanted columns. Internal to this folder.
#pragma once

#include "compiler/design/choose/Catalogue.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tbem::design {

/// For one list of columns, at one number of rows after the other: what was learnt at one helps at the next. Depth first through
/// the replacements of columns; bounded, so that nothing found does not prove that there is nothing.
class CompositeSearch {
public:
  CompositeSearch(std::uint32_t strength, const Columns& wanted) : catalogue(strength, wanted), wanted(wanted) {}

  /// A composite of so many runs with at least the wanted columns.
  std::optional<Composite> at(std::uint64_t runs);

private:
  /// For each need of the demand, the degrees of freedom that are there beyond it.
  using Slack = std::vector<std::int64_t>;
  /// What may replace a column: candidates, and of each the degrees of freedom for each need, one after the other.
  struct Options {
    const std::vector<Candidate>* by = nullptr;
    Slack over;
  };

  void addFreedoms(const Columns& columns, Slack& over) const;
  const Options& options(std::uint32_t levels);
  bool reach(const Variant& variant, const Slack& slack, std::uint32_t depth);
  bool replaceFor(std::uint32_t level, std::uint64_t count, const Variant& variant, const Columns& free, const Slack& slack,
                  std::uint32_t depth);

  Catalogue catalogue;
  Columns wanted;
  std::size_t states = 0, most = 0;  ///< seen, and the most for this base
  std::optional<Variant> found;
  std::map<std::uint32_t, Options> known;
  /// Free columns, open columns.
  using State = std::pair<Columns, Columns>;
  struct StateHash {
    std::size_t operator()(const State& state) const { return ColumnsHash{}(state.first) * 31 + ColumnsHash{}(state.second); }
  };
  std::unordered_set<State, StateHash> failed;
};

}  // namespace tbem::design
