// What the backend cuda can be told and asked beside its table.
#pragma once

#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Timer.h"
#include "runtime/cudnn/Engines.h"
#include "runtime/cudnn/Properties.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::cuda {

/// Where the machine has no card, steps are planned for this one: `probe` names it, and cuDNN is asked about it. They cannot be
/// run. A card that is here is asked itself, whatever was told. `answerer`: who is asked about it; empty: cuDNN, which the
/// backend opens.
void planFor(const cudnn::DeviceProperties& card, cudnn::Answerer answerer = {});
/// From now on cuDNN is asked again, where it was this owner's answerer that was asked.
void withdrawAnswerer(const void* owner);

/// The UUID of the card that this process uses: "GPU-7465626d-0000-0000-0000-000000000001"; "": there is none.
std::string uuid();

/// The cards that this process may use (CUDA_VISIBLE_DEVICES). Like the first are those of its name, capability, multiprocessors
/// and memory.
struct Cards {
  std::vector<std::string> equal;  ///< UUIDs of the first, which it uses, and of those that are like it
  std::size_t others = 0;          ///< how many more there are
};
/// Errors, in words: there is no driver, it is too old, there is no card.
tl::expected<Cards, std::string> equalCards();

/// The card's address on its bus, by which other libraries know it: "0000:3b:00.0". "": there is no card, or it has none.
std::string busId();

}  // namespace tbem::cuda
