// What a training has learned so far, outside any instance: kept as the best, saved.
#pragma once

#include "runtime/core/Executable.h"

#include <string>
#include <vector>

namespace tbem::train {

/// Values of persistent storages by their paths, in the executable's order.
struct Snapshot {
  struct Entry {
    runtime::BufferClass kind{};  ///< Weight, Buffer or State
    std::string path;
    runtime::HostTensor value;
  };
  std::vector<Entry> entries;
  const Entry* find(runtime::BufferClass kind, std::string_view path) const;
};

/// Weights and running statistics; with `states` also those of the optimiser.
tl::expected<Snapshot, std::string> take(const runtime::Instance& instance, bool states);
/// Into the storages of the same class and path; what the instance does not have is left out. Errors: a storage that the
/// snapshot lacks (but for states, where it has none at all), a shape or type that differs.
tl::expected<void, std::string> give(const Snapshot& snapshot, runtime::Instance& instance);

}  // namespace tbem::train
