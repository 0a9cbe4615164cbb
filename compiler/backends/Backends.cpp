#include "compiler/backends/Backends.h"

#include "runtime/backends/cuda/Cuda.h"
#include "runtime/measure/CardMeter.h"
#include "runtime/measure/Nvml.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::driver {

const std::vector<BackendChoice>& knownBackends() {
  static const std::vector<BackendChoice> list = {
      {"cpu", tbem_backend_cpu, nullptr},
      {"ref", tbem_backend_ref, nullptr},
      {"fake", tbem_backend_fake, nullptr},
      {"cuda", tbem_backend_cuda, nullptr},
      {"pytorch", nullptr, "`tbemc measure` alone runs rows there; `estimate --on pytorch` says what a step would take"},
      {"keras", nullptr, "`tbemc measure` alone runs rows there"},
      {"command", nullptr, "`tbemc measure` alone runs rows there"},
      {"onednn", nullptr, "it is called cpu"},
  };
  return list;
}

Probed probeBackend(std::string_view name) {
  Probed probed;
  for (const BackendChoice& choice : knownBackends()) {
    // `pytorch(compile: true)` is pytorch; backends of our own take nothing in parentheses.
    if (choice.name != (choice.table == nullptr ? name.substr(0, name.find('(')) : name)) continue;
    if (choice.table == nullptr) {
      probed.reason = choice.why;
      return probed;
    }
    const tbem_backend* table = choice.table();
    if (table->abi != TBEM_BACKEND_ABI) {
      probed.reason = fmt::format("it was built for version {} of the backend interface, not {}", table->abi, TBEM_BACKEND_ABI);
    } else if (table->probe(&probed.device) != TBEM_OK) {
      probed.reason = table->last_error();
    } else {
      probed.backend = table;
    }
    return probed;
  }
  probed.known = false;
  probed.reason = fmt::format("no backend is called `{}` (cpu, cuda, ref, fake are)", name);
  return probed;
}

void planForCard(const cudnn::DeviceProperties& card, cudnn::Answerer answerer) { cuda::planFor(card, std::move(answerer)); }
void withdrawAnswerer(const void* owner) { cuda::withdrawAnswerer(owner); }

std::optional<std::uint64_t> takenOnDevice(const tbem_backend& backend) {
  return &backend == tbem_backend_cuda() ? cuda::takenMemory() : std::nullopt;
}

cuda::Ledger ledgerOf(const tbem_backend& backend) { return &backend == tbem_backend_cuda() ? cuda::ledger() : cuda::Ledger{}; }

void keepLedgers() { cuda::keepLedger(); }

std::optional<std::uint64_t> ofThisProcess(const tbem_backend& backend) {
  if (&backend != tbem_backend_cuda()) return std::nullopt;
  const auto bytes = measure::NvmlCard(cardBusId()).memoryOfThisProcess();
  return bytes ? std::optional(*bytes) : std::nullopt;
}

std::string cardOf(const tbem_backend& backend) { return &backend == tbem_backend_cuda() ? cuda::uuid() : ""; }

tl::expected<cuda::Cards, std::string> equalCards() { return cuda::equalCards(); }

std::string cardBusId() { return cuda::busId(); }

std::unique_ptr<measure::EnergySource> energyOf(const tbem_backend& backend, const runtime::ProtocolSettings& protocol) {
  if (&backend != tbem_backend_cuda()) return std::make_unique<measure::EnergyMeter>();
  if (protocol.minSeconds < measure::CardMeter::kWindow)
    return std::make_unique<measure::NoEnergy>("a card's energy is read where `metric energy` asks for it");
  return std::make_unique<measure::CardMeter>(cardBusId());
}

std::string describe(const tbem_device_info& device) {
  return fmt::format("{}, {}, {}", device.name, device.isa, device.library);
}

}  // namespace tbem::driver
