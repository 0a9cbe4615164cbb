// The backends by name, and what is said of those that are not there.
#pragma once

#include "compiler/lower/Choices.h"
#include "runtime/backends/cuda/Cuda.h"
#include "runtime/core/ProtocolSettings.h"
#include "runtime/cudnn/Properties.h"
#include "runtime/include/tbem/backend.h"
#include "runtime/measure/Meters.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// A backend that a program may name: one of our own, or known and another's.
struct BackendChoice {
  const char* name;
  const tbem_backend* (*table)();  ///< null: not built in
  const char* why;                 ///< why it is not there
};
const std::vector<BackendChoice>& knownBackends();

/// The table, probed; nullptr and the reason where it cannot be used. `known`: false for a word that names no backend at all.
struct Probed {
  const tbem_backend* backend = nullptr;
  tbem_device_info device{};
  std::string reason;
  bool known = true;
};
Probed probeBackend(std::string_view name);

/// With what is known of it on this machine.
struct Opened : Probed {
  estimate::Choices choices;   ///< of algorithms, as kept for this device (Algorithms.h)
  std::string choicesRefused;  ///< why the file of them is not believed, or ""
};
Opened openBackend(std::string_view name);
/// As if no algorithm had been timed here: what is kept of that is not read.
inline Opened openUntimed(std::string_view name) { return {probeBackend(name), {}, {}}; }
/// Steps on `cuda` are planned for this card where the machine has none. `answerer`: who is asked about it; empty: cuDNN.
void planForCard(const cudnn::DeviceProperties& card, cudnn::Answerer answerer);
/// From now on cuDNN is asked, where it was this owner's answerer.
void withdrawAnswerer(const void* owner);
/// Bytes that are taken of the memory of the backend's device at this moment, by whomever. Nothing: the host can reach its
/// memory, or it does not say.
std::optional<std::uint64_t> takenOnDevice(const tbem_backend& backend);
/// What the backend itself says of it, once it was told to keep a ledger; zeros for one without such a device.
cuda::Ledger ledgerOf(const tbem_backend& backend);
void keepLedgers();
/// What NVML says that this process has of the backend's card. Nothing: it does not say, or there is no card.
std::optional<std::uint64_t> ofThisProcess(const tbem_backend& backend);
/// Of the card that `cuda` uses in this process; "": of another backend.
std::string cardOf(const tbem_backend& backend);
/// The cards of which rows on `cuda` can use one each.
tl::expected<cuda::Cards, std::string> equalCards();
/// The address on its bus of the card that `cuda` uses; "": there is none.
std::string cardBusId();
/// What counts the energy of steps on the backend: of the processor's packages, or of its card, whose counter is opened only
/// where steps run for as long as it needs.
std::unique_ptr<measure::EnergySource> energyOf(const tbem_backend& backend, const runtime::ProtocolSettings& protocol);
/// All that a device's answers depend on, in words.
std::string describe(const tbem_device_info& device);

}  // namespace tbem::driver
