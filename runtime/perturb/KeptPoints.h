// The points that a store has, and how new ones come into it. Internal to this folder.
#pragma once

#include "runtime/perturb/Result.h"
#include "runtime/store/Store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tbem::perturb {

/// A point that was found, with its numbers.
struct Found {
  Point point;
  std::vector<float> input;
};
using Points = std::map<std::int64_t, Found>;  ///< by example

class KeptPoints {
public:
  /// The store is made where there is none, unless it is only read, and is not opened where none is wanted.
  static Result<KeptPoints> open(const Keeping& keeping, store::Mode mode = store::Mode::ReadWrite);

  /// Those of the first `total` examples. `gates`: how many the network has. A point whose latency
  /// was not wanted then is none. Without Plan::keepInputs, their numbers are not read. Errors: what the store says, a text that
  /// is no point of this network.
  Result<Points> of(const Method& method, const Plan& plan, std::int64_t total, std::size_t gates);
  /// Of one batch, in one transaction.
  Result<void> add(const Method& method, const std::vector<Found>& found);

private:
  explicit KeptPoints(const Keeping& keeping) : keeping(keeping) {}

  const Keeping& keeping;
  std::optional<store::Store> store;  ///< nothing: points are kept nowhere
};

}  // namespace tbem::perturb
