#include "compiler/pytorch/rows/EagerSteps.h"

#include "compiler/pytorch/rows/AllocConf.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::driver {

namespace {

constexpr std::string_view kCuda = "pytorch", kCpu = "pytorch-cpu";

estimate::EagerOptions eagerOptions(const std::string& backend, const EagerRequest& request) {
  estimate::EagerOptions result;
  result.device = backend == kCpu ? estimate::EagerDevice::Cpu : estimate::EagerDevice::Cuda;
  // torch.optim's own choice where nothing is asked for: foreach on CUDA, a loop elsewhere.
  result.update = request.update == "fused"                                                 ? estimate::EagerUpdate::Fused
                  : request.update == "foreach"                                             ? estimate::EagerUpdate::Foreach
                  : request.update == "loop" || result.device == estimate::EagerDevice::Cpu ? estimate::EagerUpdate::Loop
                                                                                            : estimate::EagerUpdate::Foreach;
  result.writes = request.inPlace == "all"           ? estimate::EagerWrites::All
                  : request.inPlace == "activations" ? estimate::EagerWrites::Activations
                                                     : estimate::EagerWrites::Anew;
  return result;
}

}  // namespace

std::string torchVersion(const EagerRequest& request) {
  return request.torch.empty() ? std::string(estimate::allocatorVersions().back().name) : request.torch;
}

bool isPyTorch(std::string_view backend) { return backend == kCuda || backend == kCpu; }

void tellLeftOut(State& state) {
  for (const auto& run : state.designs.runs) {
    if (run->spec.checkpoint)
      state.events.note(fmt::format("{}: PyTorch is asked without the clause `checkpoint`", run->spec.name));
  }
  for (const auto& training : state.trainings) {
    if (training->step->spec.checkpoint)
      state.events.note(fmt::format("{}: PyTorch is asked without the clause `checkpoint`", training->step->spec.name));
  }
}

NoRoom noRoom(const estimate::EagerStep& step, const estimate::Replay& replay, estimate::EagerEngines engines) {
  using estimate::EagerEngines;
  const estimate::EagerTensor& tensor = step.tensors[step.events[replay.outOfMemory.front()].tensor];
  const std::uint64_t bytes = tensor.bytes(engines == EagerEngines::Expected ? EagerEngines::Last : engines);
  return {fmt::format("out of memory for {} of {}", report::bytes(bytes), estimate::eagerKindName(tensor.kind)),
          tensor.op == estimate::kNoEagerOp ? nullptr : &(*step.operators)[tensor.op]};
}

tl::expected<EagerSteps, Failed> EagerSteps::open(State& state, const std::string& backend, const EagerRequest& request,
                                                  const EngineRequest& engines) {
  EagerSteps steps;
  steps.options = eagerOptions(backend, request);
  if (request.allocConf.size() > 1) {
    return failed(kUsage, fmt::format("--alloc-conf is given {} times: one text, its options separated by commas",
                                      request.allocConf.size()));
  }
  const auto version = readTorch(request.torch);
  if (!version) return tl::unexpected(version.error());
  auto read = readAllocConf("--alloc-conf", request.allocConf.empty() ? "" : request.allocConf.front(), **version);
  if (!read) return tl::unexpected(std::move(read).error());
  steps.allocatorOptions = *std::move(read);
  for (const std::string& name : steps.allocatorOptions.ignored)
    state.events.note(fmt::format("--alloc-conf: {} is not simulated", name));
  if (steps.onCuda() && !engines.device.empty()) {
    auto asked = EagerWorkspaces::open(state, engines);
    if (!asked) return tl::unexpected(asked.error());
    steps.asked.emplace(std::move(*asked));
    const estimate::Device& device = steps.asked->onDevice();
    steps.options.products = estimate::productWorkspaces(device.architecture->capability, **version);
    steps.options.sums = {device.multiprocessors, device.architecture->threadsPerMultiprocessor};
  }
  return steps;
}

tl::expected<estimate::EagerStep, estimate::NoValue> EagerSteps::of(const graph::Row& row) {
  estimate::EagerOptions own = options;
  if (asked) own.convolutions = [this, &row](graph::OpId id) { return asked->of(row.graph(), row.values, id); };
  if (row.recomputed) {  // of this row alone
    estimate::EagerReader reader(*row.recomputed, options.device);
    return estimate::eagerStep(reader, row.values, own);
  }
  auto found = readers.find(row.structure);
  if (found == readers.end()) found = readers.try_emplace(row.structure, row.structure->graph, options.device).first;
  return estimate::eagerStep(found->second, row.values, own);
}

estimate::CardMemory EagerSteps::card() const {
  estimate::CardMemory card;
  if (asked && asked->onDevice().memory != 0) card.total = asked->onDevice().memory;
  return card;
}

tl::expected<estimate::EagerMemory, estimate::NoValue> EagerSteps::memoryOf(const graph::Row& row,
                                                                            const estimate::EagerStep& step,
                                                                            estimate::EagerEngines engines) const {
  estimate::EagerMemory memory = estimate::eagerMemory(step, allocatorOptions, card(), engines);
  if (memory.replay.outOfMemory.empty()) return memory;
  const NoRoom refused = noRoom(step, memory.replay, engines);
  const SrcRange range = refused.op == nullptr ? SrcRange{} : row.graph()[refused.op->op].range;
  const std::string limit = allocatorOptions.memoryFraction < 1
                                ? fmt::format("under per_process_memory_fraction:{}", allocatorOptions.memoryFraction)
                                : fmt::format("even in {}", report::bytes(estimate::CardMemory::kEndless));
  return tl::unexpected(estimate::NoValue{fmt::format("{} {}", refused.what, limit), range});
}

bool EagerSteps::engineListsComplete(const estimate::EagerStep& step) const {
  return asked && asked->notListed == 0 && step.notAsked == 0;
}

estimate::Replay EagerSteps::replayWithin(const estimate::EagerStep& step, std::uint64_t capacity,
                                          estimate::EagerEngines engines) const {
  estimate::CardMemory limited = card();
  limited.capacity = capacity;
  if (!asked) limited.total = capacity;
  return estimate::replay(estimate::allocatorEvents(step, engines), allocatorOptions, limited, estimate::ReplayUntil::OutOfMemory,
                          estimate::smallerWorkspaces(step, engines));
}

tl::expected<void, Failed> EagerSteps::finish(Events& events) {
  if (!asked) return {};
  if (!asked->failure.empty()) return failed(kEnvironment, asked->failure);
  asked->keep(events);
  return {};
}

}  // namespace tbem::driver
