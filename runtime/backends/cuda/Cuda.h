// What the backend cuda can be told and asked beside its table.
#pragma once

#include "runtime/cudnn/Properties.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::cuda {

/// Where the machine has no card, steps are planned for this one: `probe` names it, and cuDNN is asked about it. They cannot be
/// run. A card that is here is asked itself, whatever was told.
void planFor(const cudnn::DeviceProperties& card);

/// Bytes of the card's memory that are taken at this moment, by this process and all others. Nothing: there is no card, or it
/// does not say.
std::optional<std::uint64_t> takenMemory();

/// The card's address on its bus, by which other libraries know it: "0000:3b:00.0". "": there is no card, or it has none.
std::string busId();

}  // namespace tbem::cuda
