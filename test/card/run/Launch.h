// Runs a kernel.
#pragma once

#include "test/card/run/Lane.h"

#include <optional>

namespace tbem::card {

struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  std::uint32_t grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  std::uint64_t dynamicShared = 0;
  std::vector<std::byte> arguments;  ///< laid out as the kernel's parameters
  Conditions* conditions = nullptr;  ///< which a kernel may set
};

struct LaunchEnd {
  std::uint64_t executed = 0;  ///< instructions of threads
  std::optional<Fault> fault;
};

/// Blocks run one after another, threads of a block up to where they must wait for others: the result is the same each time.
/// `serial` differs for each launch and is not 0.
LaunchEnd runLaunch(const Launch& launch, Memory& memory, const Settings& settings, std::uint32_t serial);

}  // namespace tbem::card
