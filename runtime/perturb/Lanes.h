// Batches that are searched side by side, each on a thread of its own and in memory of its own. Internal to this folder.
#pragma once

#include "runtime/core/Arena.h"
#include "runtime/perturb/Examples.h"
#include "runtime/perturb/Network.h"
#include "runtime/perturb/Search.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tbem::perturb {

/// A batch on its way: what is known of it, then what was found.
struct Work {
  Batch batch;
  std::vector<Answer> clean;                            ///< what the network did with the examples, by place; empty: it is asked
  Result<std::optional<std::vector<Candidate>>> found;  ///< by place, without fillers; nothing: it was stopped
  double seconds = 0;                                   ///< that the search took
};

/// What runs on one thread.
struct Lane {
  std::unique_ptr<runtime::Arena> arena;
  std::unique_ptr<Network> network;
  std::unique_ptr<runtime::Instance> mover;  ///< of the method that was taken up last
};

class Lanes {
public:
  /// Plan::sideBySide of them, but no more than `batches`, and fewer where there is memory for fewer. The first one's arena has
  /// room for all executables of the victim and the methods, those of others for what moves points and asks what they cost. All
  /// must outlive the result.
  static Result<Lanes> create(const Plan& plan, const Victim& victim, const std::vector<Method>& methods, std::int64_t batches);

  std::size_t count() const { return lanes.size(); }
  Lane& first() { return lanes.front(); }

  /// Makes the method's movers, with weights by their initial rules, the victim's among them.
  Result<void> takeUp(const Method& method);
  /// The victim's weights to all lanes; what the method learned in the first one to the others.
  Result<void> giveWeights(const Method& method);
  /// `work`: as many as there are lanes, or fewer. `tell` gets the steps of the first of them, and `stops` is asked before these
  /// and while the others run, both on this thread; once it is true, all end before their next step. What becomes of one does not
  /// depend on the others.
  void search(const Method& method, std::span<Work> work, const std::function<void(std::int64_t step)>& tell,
              const std::function<bool()>& stops);

private:
  Lanes(const Plan& plan, const Victim& victim) : plan(&plan), victim(&victim) {}
  Result<void> addOthers(std::span<const runtime::Executable* const> executables, std::int64_t count);
  void search(Lane& lane, const Method& method, Work& work, const std::function<bool(std::int64_t step)>& next) const;
  Result<std::vector<Answer>> cleanAnswers(Network& network, const Batch& batch) const;

  const Plan* plan;
  const Victim* victim;
  std::unique_ptr<const Victim> beside;  ///< of all lanes but the first: nothing is measured of one example alone there
  std::vector<Lane> lanes;
};

/// Of the victim's backend, with its weights by their initial rules.
Result<std::unique_ptr<runtime::Instance>> initialised(const runtime::Executable& executable, runtime::Arena& arena,
                                                       std::uint64_t seed);

}  // namespace tbem::perturb
