// The backend table of `cuda`.
#include "runtime/backends/cuda/Cuda.h"

#include "runtime/backends/cuda/Primitives.h"
#include "runtime/backends/cuda/device/Code.h"
#include "runtime/backends/cuda/device/ErrorWord.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/device/Recording.h"
#include "runtime/backends/cuda/libraries/Blas.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tbem::cuda {
namespace {

template <class Body>
tbem_status guarded(Body body) {
  return runtime::guarded(fail, "cuda: the host has no memory for an operator", body);
}

/// What `body` makes of the device, which is open on this thread then.
template <class Body>
tbem_status onDevice(Body body) {
  return guarded([&] {
    const Device* device = nullptr;
    const tbem_status status = openDevice(device);
    return status != TBEM_OK ? status : body(*device);
  });
}

/// Names the card of the plans. False where there is none, or where a card is here.
bool describePlanned(tbem_device_info* info) {
  const auto card = plannedCard();
  if (!card || openDevice()) return false;
  std::snprintf(info->name, sizeof info->name, "%s", card->name.c_str());
  std::snprintf(info->isa, sizeof info->isa, "sm_%d", static_cast<int>(card->capability / 10));
  std::snprintf(info->library, sizeof info->library, "%s, not here: a plan", cudnnVersion().c_str());
  info->threads = 1;
  info->memory = card->memory;
  return true;
}

tbem_status probe(tbem_device_info* info) {
  *info = {};
  if (describePlanned(info)) return TBEM_OK;
  return onDevice([&](const Device& device) {
    int version = 0;
    (void)device.driver->driverVersion(&version);
    std::string libraries = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    const std::string cudnn = cudnnVersion(), blas = blasVersion();
    libraries += ", " + (cudnn.empty() ? "no cuDNN" : cudnn) + ", " + (blas.empty() ? "no cuBLASLt" : blas);
    std::snprintf(info->name, sizeof info->name, "%s", device.name.c_str());
    std::snprintf(info->isa, sizeof info->isa, "sm_%d%d", device.major, device.minor);
    std::snprintf(info->library, sizeof info->library, "%s", libraries.c_str());
    info->threads = 1;
    info->memory = device.memory;
    return tbem_status{TBEM_OK};
  });
}

tbem_status query(tbem_op_desc* op, tbem_op_info* info) {
  return guarded([&] {
    *info = {};
    if (op->operands == nullptr)  // every primitive belongs to a family
      return op->primitive >= 0 && op->primitive < TBEM_PRIMITIVE_COUNT ? TBEM_OK : TBEM_UNSUPPORTED;
    const tbem_status status = checkOp(*op);
    return status != TBEM_OK ? status : familyFor(*op).query(*op, *info);
  });
}

tbem_status create(const tbem_op_desc* op, tbem_op** out) {
  return onDevice([&](const Device&) {
    if (const tbem_status status = checkOp(*op)) return status;
    if (!runtime::layoutsAreChosen(*op)) return fail(TBEM_INVALID, "cuda: create needs every layout chosen");
    return runtime::createBy(familyFor(*op), *op, out);
  });
}

tbem_status run(tbem_op* op, void* const* operands, void* work, const double* scalars) {
  return onDevice([&](const Device&) { return reinterpret_cast<Op*>(op)->run(operands, work, scalars); });
}

void destroy(tbem_op* op) { delete reinterpret_cast<Op*>(op); }

// ---- Memory -----------------------------------------------------------------------------------------------------------

DevicePointer addressOf(const void* memory) { return reinterpret_cast<DevicePointer>(memory); }

/// What the driver calls memory whose address was moved up to the next page.
struct Moved {
  std::mutex mutex;
  std::unordered_map<DevicePointer, DevicePointer> of;
};

Moved& moved() {
  static Moved all;
  return all;
}

tbem_status allocate(std::uint64_t bytes, void** out) {
  *out = nullptr;
  return onDevice([&](const Device& device) {
    constexpr std::uint64_t kPage = 4096;
    const Driver& driver = *device.driver;
    const std::string doing = fmt::format("allocating {} bytes", bytes);
    DevicePointer memory = 0;
    const Booking booking(device, &Ledger::memory);
    if (const tbem_status status = check(device, driver.allocate(&memory, std::max<std::uint64_t>(bytes, 1)), doing.c_str()))
      return status;
    if (memory % kPage != 0) {
      (void)driver.release(memory);
      if (const tbem_status status = check(device, driver.allocate(&memory, bytes + kPage), doing.c_str())) return status;
      const DevicePointer page = (memory + kPage - 1) / kPage * kPage;
      const std::lock_guard lock(moved().mutex);
      moved().of.emplace(page, memory);
      memory = page;
    }
    *out = reinterpret_cast<void*>(memory);
    return tbem_status{TBEM_OK};
  });
}

void release(void* memory, std::uint64_t) {
  if (memory == nullptr) return;
  (void)onDevice([&](const Device& device) {
    const Booking booking(device, &Ledger::memory);
    DevicePointer address = addressOf(memory);
    {
      const std::lock_guard lock(moved().mutex);
      if (const auto known = moved().of.find(address); known != moved().of.end()) {
        address = known->second;
        moved().of.erase(known);
      }
    }
    return check(device, device.driver->release(address), "releasing memory");
  });
}

tbem_status copyIn(void* memory, const void* host, std::uint64_t bytes) {
  if (bytes == 0) return TBEM_OK;
  return onDevice([&](const Device& device) {
    constexpr const char* kDoing = "copying to the card";
    const int copied = device.driver->copyIn(addressOf(memory), host, bytes, device.stream);
    if (const tbem_status status = check(device, copied, kDoing)) return status;
    return check(device, device.driver->streamSynchronize(device.stream), kDoing);
  });
}

tbem_status copyOut(void* host, const void* memory, std::uint64_t bytes) {
  if (bytes == 0) return TBEM_OK;
  return onDevice([&](const Device& device) {
    const int copied = device.driver->copyOut(host, addressOf(memory), bytes, device.stream);
    const tbem_status status = check(device, copied, "copying from the card");
    return status != TBEM_OK ? status : readErrorWord();
  });
}

tbem_status synchronize() {
  return onDevice([](const Device&) { return readErrorWord(); });
}

// ---- Code and its order -----------------------------------------------------------------------------------------------

tbem_status load(const void* image, std::uint64_t, tbem_module** out) {
  return onDevice([&](const Device& device) {
    ModuleHandle module = nullptr;
    const tbem_status status = loadCode(device, image, "the loops of a step", module);
    *out = reinterpret_cast<tbem_module*>(module);
    return status;
  });
}

void unload(tbem_module* module) {
  if (module == nullptr) return;
  (void)onDevice([&](const Device& device) {
    const Booking booking(device, &Ledger::modules);
    return check(device, device.driver->moduleUnload(reinterpret_cast<ModuleHandle>(module)), "unloading code");
  });
}

tbem_status find(tbem_module* module, const char* name, tbem_kernel** out) {
  return onDevice([&](const Device& device) {
    FunctionHandle function = nullptr;
    const Booking booking(device, &Ledger::modules);  // a driver may load code when it is looked for
    const int result = device.driver->moduleFunction(&function, reinterpret_cast<ModuleHandle>(module), name);
    *out = reinterpret_cast<tbem_kernel*>(function);
    return result == 0 ? tbem_status{TBEM_OK} : check(device, result, fmt::format("looking for the kernel {}", name).c_str());
  });
}

tbem_status launchKernel(tbem_kernel* kernel, const std::uint64_t* arguments, std::int32_t count, std::int64_t items,
                         std::int32_t threads) {
  if (items <= 0) return TBEM_OK;
  return onDevice([&](const Device& device) {
    // Blocks of which a multiprocessor holds eight; four times as many as the card holds even out what they take.
    constexpr std::int64_t kThreads = 256, kBlocksEach = 32;
    const std::int64_t ofBlock = threads > 0 ? threads : kThreads;
    const std::int64_t blocks = std::min((items - 1) / ofBlock + 1, kBlocksEach * device.multiprocessors);
    std::vector<void*> addresses(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < addresses.size(); ++i) addresses[i] = const_cast<std::uint64_t*>(arguments + i);
    return check(device,
                 device.driver->launch(reinterpret_cast<FunctionHandle>(kernel), static_cast<unsigned>(blocks), 1, 1,
                                       static_cast<unsigned>(ofBlock), 1, 1, 0, device.stream, addresses.data(), nullptr),
                 "starting a loop of a step");
  });
}

tbem_status zero(void* memory, std::uint64_t bytes) {
  if (bytes == 0) return TBEM_OK;
  return onDevice([&](const Device& device) {
    return check(device, device.driver->set8(addressOf(memory), 0, bytes, device.stream), "zeroing memory");
  });
}

tbem_status move(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return TBEM_OK;
  return onDevice([&](const Device& device) {
    return check(device, device.driver->copyWithin(addressOf(to), addressOf(from), bytes, device.stream),
                 "copying within the card");
  });
}

tbem_status record() { return onDevice(beginRecording); }

tbem_status recordWhere(const void* count) {
  return onDevice([&](const Device& device) { return beginCondition(device, count); });
}

tbem_status recordAlways() { return onDevice(endCondition); }

tbem_status recorded(tbem_recording** out) {
  return onDevice([&](const Device& device) {
    GraphExecHandle recording = nullptr;
    const tbem_status status = endRecording(device, recording);
    *out = reinterpret_cast<tbem_recording*>(recording);
    return status;
  });
}

tbem_status replay(tbem_recording* recording) {
  return onDevice([&](const Device& device) {
    return check(device, device.driver->graphLaunch(reinterpret_cast<GraphExecHandle>(recording), device.stream),
                 "replaying what was recorded");
  });
}

void forget(tbem_recording* recording) {
  if (recording == nullptr) return;
  (void)onDevice([&](const Device& device) {
    const Booking booking(device, &Ledger::recordings);
    return check(device, device.driver->graphExecDestroy(reinterpret_cast<GraphExecHandle>(recording)),
                 "forgetting what was recorded");
  });
}

constexpr tbem_device_table kDevice = {"nvptx64", load,        unload,       find,     launchKernel, zero,  move,
                                       record,    recordWhere, recordAlways, recorded, replay,       forget};

constexpr tbem_backend kBackend = {
    TBEM_BACKEND_ABI, sizeof(tbem_backend), "cuda",  probe,         query,   create, run, destroy, allocate, release, copyIn,
    copyOut,          synchronize,          nullptr, lastErrorText, &kDevice};

}  // namespace

void planFor(const cudnn::DeviceProperties& card, cudnn::Answerer answerer) {
  describeDevice(cudnn::toJson(card), std::move(answerer));
  planForCard(card);
}

void withdrawAnswerer(const void* owner) { forgetAnswerer(owner); }

std::string uuid() {
  const auto device = openDevice();
  return device ? (*device)->uuid : "";
}

tl::expected<Cards, std::string> equalCards() {
  const auto cards = visibleCards();
  if (!cards) return tl::unexpected(cards.error());
  const auto kind = [](const CardFacts& card) {
    return std::tuple(card.name, card.major, card.minor, card.multiprocessors, card.memory);
  };
  Cards found;
  for (const CardFacts& card : *cards) {
    if (kind(card) == kind(cards->front())) found.equal.push_back(card.uuid);
  }
  found.others = cards->size() - found.equal.size();
  return found;
}

std::string busId() {
  std::array<char, 64> text{};
  const auto device = openDevice();
  if (!device || (*device)->driver->deviceBusId(text.data(), static_cast<int>(text.size()), (*device)->handle) != 0) return {};
  return text.data();
}

}  // namespace tbem::cuda

extern "C" const tbem_backend* tbem_backend_cuda(void) { return &tbem::cuda::kBackend; }
