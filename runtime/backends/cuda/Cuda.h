// What the backend cuda can be told and asked beside its table.
#pragma once

#include "runtime/cudnn/Properties.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::cuda {

/// Where the machine has no card, steps are planned for this one: `probe` names it, and cuDNN is asked about it. They cannot be
/// run. A card that is here is asked itself, whatever was told.
void planFor(const cudnn::DeviceProperties& card);

/// Bytes of the card's memory that are taken at this moment, by this process and all others. Nothing: there is no card, or it
/// does not say.
std::optional<std::uint64_t> takenMemory();

/// The UUID of the card that this process uses: "GPU-7465626d-0000-0000-0000-000000000001"; "": there is none.
std::string uuid();

/// The UUIDs of the cards that this process may use and that are like the first, which is the one that it uses: of its name,
/// capability, multiprocessors and memory. Empty: there is none. `others`: how many more there are.
std::vector<std::string> equalCards(std::size_t& others);

/// The card's address on its bus, by which other libraries know it: "0000:3b:00.0". "": there is no card, or it has none.
std::string busId();

}  // namespace tbem::cuda
