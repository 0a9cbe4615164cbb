// Which mixed-level arrays can be built in so many runs. Internal to this folder.
#pragma once

#include "compiler/design/array/Composite.h"
#include "compiler/design/field/DifferenceScheme.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tbem::design {

/// An array that one construction gives, as a search sees it: by its columns. How it is built is said when it is chosen.
struct Candidate {
  std::uint64_t runs = 0;
  Columns columns;
  std::function<BaseArray()> describe;  ///< while the catalogue lives
  BaseArray plain() const;              ///< with these columns only
};

/// A candidate, some of whose columns are replaced: a composite in the making.
struct Variant {
  struct Replacement {
    std::uint32_t levels = 0;
    std::uint64_t times = 0;
    const Candidate* by = nullptr;
  };
  const Candidate* base = nullptr;
  std::vector<Replacement> replacements;
  Columns columns;

  explicit Variant(const Candidate& base) : base(&base), columns(base.columns) {}
  /// With `times` columns of `levels` levels replaced; a base that is that one column gives way.
  Variant replaced(std::uint32_t levels, std::uint64_t times, const Candidate& by) const;
  Composite composite() const;
};

/// What columns cost, before any is placed: a column comes from one whose levels are a multiple of its own, and replacing keeps
/// no more degrees of freedom than there were; so for each divisor of levels the freedoms over it must be there.
class Demand {
public:
  struct Need {
    std::uint32_t divisor = 0;
    std::uint64_t freedoms = 0;
  };
  Demand(std::uint32_t strength, const Columns& wanted);
  bool fits(const Columns& columns) const;
  /// Whether a wanted column may come from one of so many levels, or that become a factor of one.
  bool isUseful(std::uint32_t levels) const;
  void keepUseful(const Columns& columns, Columns& result) const;
  std::vector<Need> needs;  ///< for each number of levels

private:
  std::uint32_t strength;
};

/// Largest first; without those whose columns another has; 250 at most.
void keepLargest(std::vector<Candidate>& candidates);

/// The arrays of one strength by their runs, found when asked for and remembered, as far as they can be of use to what is wanted.
/// What each holds is known without building it.
class Catalogue {
public:
  Catalogue(std::uint32_t strength, const Columns& wanted) : strength(strength), demand(strength, wanted) {}
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  /// The candidates of so many runs; none is another's part.
  const std::vector<Candidate>& arrays(std::uint64_t runs);
  /// Those that have room for all that is wanted. Not remembered.
  std::vector<Candidate> roomyArrays(std::uint64_t runs) { return candidatesFor(runs, true); }
  const Demand& wanted() const { return demand; }

private:
  /// Candidates as they are found: those whose useful columns none before had.
  struct Found {
    const Demand& demand;
    bool roomy = false;  ///< only those that have room for all that is wanted
    std::vector<Candidate> candidates;
    std::vector<std::uint32_t> slots;  ///< a hashed set of the candidates: their indices + 1, or 0; open addressing
    Columns useful;                    ///< of the candidate at hand
    /// Takes a candidate with these columns, which `describe` is called for later.
    template <class Describe>
    void offer(std::uint64_t runs, const Columns& columns, Describe describe) {
      demand.keepUseful(columns, useful);
      offerUseful(runs, std::move(describe));
    }
    /// The same, where `useful` is set.
    template <class Describe>
    void offerUseful(std::uint64_t runs, Describe describe) {
      if (useful.empty() || (roomy && !demand.fits(useful)) || !insert()) return;
      candidates.push_back({runs, useful, std::move(describe)});
    }
    /// Whether no candidate has the useful columns; their place is then taken for the next one.
    bool insert();
    std::size_t slotOf(const Columns& columns) const;
    void offer(BaseArray array);
  };

  std::vector<Candidate> candidatesFor(std::uint64_t runs, bool roomy);
  const std::vector<Variant>& variants(std::uint64_t runs);
  /// What difference schemes multiply of a variant.
  struct Factor {
    Columns columns;  ///< the useful ones
    const Variant* of = nullptr;
  };
  /// Those of the variants of n runs, of levels that divide `common`; none is another's part.
  const std::vector<Factor>& factors(std::uint32_t n, std::uint32_t common);
  void addOfStrengthTwo(std::uint64_t runs, Found& found);
  void addKronecker(std::uint32_t n, std::uint32_t m, Found& found);
  void addMerged(std::uint32_t n, std::uint32_t m, Found& found);
  bool kroneckerMayFit(std::uint32_t n, std::uint32_t m);
  void addOfHigherStrength(std::uint64_t runs, Found& found);

  std::uint32_t strength;
  Demand demand;
  DifferenceSchemes schemes;
  std::map<std::uint64_t, Candidate> singles;
  std::map<std::uint64_t, std::vector<Candidate>> known;
  std::map<std::uint64_t, std::vector<Variant>> knownVariants;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Factor>> knownFactors;
};

}  // namespace tbem::design
