// Certificates of examples, and those that a store has.
#pragma once

#include "runtime/perturb/Result.h"
#include "runtime/store/Store.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::perturb {

/// What no point of the ball around an example can cost more than.
struct Certificate {
  std::int64_t example = 0;
  double flops = 0, least = 0;           ///< no point costs more, nor less
  std::vector<std::int8_t> decided;      ///< by gate, as certify::Bound::decided
  std::vector<std::int64_t> open;        ///< by gate: how many of its decisions about the example are not known
  std::vector<std::string> unsupported;  ///< operators without bounds that some gate depends on
  double found = 0;  ///< the most that a method's point of this example costs, or the example itself; 0: not known
};

class KeptCertificates {
public:
  /// The store is made where there is none, unless it is only read, and is not opened where none is wanted.
  static Result<KeptCertificates> open(const Keeping& keeping, std::string identity, store::Mode mode = store::Mode::ReadWrite);

  /// Those of the first `total` examples, by example; Certificate::found is not kept. `gates`: how many the network has.
  /// Failures: what the store says, a text that is no certificate of this network.
  Result<std::map<std::int64_t, Certificate>> first(std::int64_t total, std::size_t gates);

  /// Takes one up. It is written with others once a second has passed since the last writing, or by `flush`: bounds of small
  /// networks take less than a transaction does. A kill loses those of a second.
  Result<void> add(const Certificate& certificate);
  Result<void> flush();

private:
  KeptCertificates(const Keeping& keeping, std::string identity) : keeping(keeping), identity(std::move(identity)) {}

  const Keeping& keeping;
  std::string identity;
  std::optional<store::Store> store;        ///< nothing: certificates are kept nowhere
  std::vector<store::StoredPoint> waiting;  ///< not written yet
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();
};

}  // namespace tbem::perturb
