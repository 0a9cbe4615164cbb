// Memory snapshots of PyTorch: what torch.cuda.memory._dump_snapshot() writes, a pickle of torch.cuda.memory._snapshot().
#pragma once

#include "compiler/pytorch/allocator/AllocatorTrace.h"
#include "runtime/data/Pickle.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tbem::estimate {

struct Snapshot {
  data::PickleValues values;          ///< the source places of entries are in it
  std::vector<AllocatorTrace> cards;  ///< one a card that has a history; named "card 0", ..
};

/// The file must outlive the snapshot. A fault says the entry as well as the byte where one is known.
tl::expected<Snapshot, data::PickleFault> readSnapshot(std::string_view file);

/// Where an entry comes from: "train.py:31 forward", the innermost Python frame that is not of torch; "" where nothing was
/// recorded.
std::string placeOf(const Snapshot& snapshot, const AllocatorTrace& trace, std::size_t entry);

/// What no card has: addresses and sizes of this and more are refused.
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 57U;

}  // namespace tbem::estimate
