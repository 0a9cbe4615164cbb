#include "runtime/core/DeviceCode.h"

#include "runtime/core/Executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tbem::runtime {

DeviceCode::~DeviceCode() {
  forgetRecording();
  segments.forget();
  if (scalars != nullptr) backend.release(scalars, scalarBytes);
  if (module != nullptr) device.unload(module);
}

void DeviceCode::forgetRecording() {
  if (recording != nullptr) device.forget(recording);
  recording = nullptr;
}

tbem_status DeviceCode::load(const Executable& executable) {
  scalarBytes = std::max<std::size_t>(executable.scalars.size(), 1) * sizeof(double);
  if (const tbem_status status = backend.allocate(scalarBytes, &scalars)) return status;
  for (const CallDesc& call : executable.calls) slots.insert(slots.end(), call.scalars.begin(), call.scalars.end());
  if (executable.kernels == 0) return TBEM_OK;
  if (const tbem_status status = loadImage(executable)) return status;
  for (std::uint32_t i = 0; i < executable.kernels; ++i) {
    tbem_kernel* kernel = nullptr;
    if (const tbem_status status = device.find(module, fmt::format("tbem_kernel_{}", i).c_str(), &kernel)) return status;
    kernels.push_back(kernel);
  }
  return TBEM_OK;
}

/// What was made for this kind of card; PTX, of which the driver makes it, where there is none or it is another card.
tbem_status DeviceCode::loadImage(const Executable& executable) {
  const std::string_view ready = executable.machineCode;
  if (!ready.empty()) {
    const tbem_status status = device.load(ready.data(), ready.size(), &module);
    if (status != TBEM_UNSUPPORTED) return status;
  }
  return device.load(executable.image.data(), executable.image.size() + 1, &module);
}

bool DeviceCode::isRecorded(std::span<const double> values, std::uint64_t seed) const {
  return recording != nullptr && recordedSeed == seed &&
         std::ranges::equal(slots, recordedScalars, {}, [&](std::uint32_t slot) { return values[slot]; });
}

tl::expected<void, Failure> Instance::prepareDevice() {
  for (const CallDesc& call : description.calls) {
    if (call.symbol.empty() && call.outside.empty()) continue;
    return tl::make_unexpected(
        Failure{TBEM_UNSUPPORTED,
                fmt::format("{} of backend {}: code and memory of the host are out of its reach", call.name, device.name)});
  }
  code = std::make_unique<DeviceCode>(device);
  const auto isOfOne = [](const BranchDesc& branch) { return branch.samples <= 1; };
  code->canRecord = description.branches.empty() ||
                    (device.device->record_where != nullptr && std::ranges::all_of(description.branches, isOfOne));
  if (const tbem_status status = code->load(description); status != TBEM_OK)
    return tl::make_unexpected(failure(status, fmt::format("backend {} cannot load the step", device.name)));
  return {};
}

namespace {

/// A piece of work that was kept, by asking the instance again, which keeps nothing meanwhile.
tbem_status performed(Instance& instance, const Segments::Work& work) {
  const std::span<const std::uint64_t> words = work.words;
  switch (work.kind) {
    case Segments::Kind::Launch:
      return static_cast<tbem_status>(instance.launch(static_cast<std::uint32_t>(words[0]), words.subspan(3),
                                                      static_cast<std::int64_t>(words[1]), static_cast<std::int32_t>(words[2])));
    case Segments::Kind::Call:
      return static_cast<tbem_status>(instance.call(static_cast<std::uint32_t>(words[0]), static_cast<std::int64_t>(words[1]),
                                                    static_cast<std::int64_t>(words[2])));
    case Segments::Kind::Zero:
      return static_cast<tbem_status>(instance.zero(reinterpret_cast<void*>(words[0]), words[1]));
    case Segments::Kind::Move:
      return static_cast<tbem_status>(
          instance.move(reinterpret_cast<void*>(words[0]), reinterpret_cast<const void*>(words[1]), words[2]));
    case Segments::Kind::MicroBatch:
      return static_cast<tbem_status>(instance.microBatch(words[0]));
  }
  return TBEM_INVALID;
}

std::uint64_t wordOf(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

/// Does what a step with gates has asked for so far.
std::int32_t Instance::flushSegment() {
  return noted(code->segments.flush([this](const Segments::Work& work) { return performed(*this, work); }), "a part of a step");
}

std::int32_t Instance::runInSegments() {
  std::vector<std::uint64_t> given{seed};
  for (const std::uint32_t slot : code->slots) given.push_back(std::bit_cast<std::uint64_t>(scalarValues[slot]));
  code->segments.begin(std::move(given));
  std::int32_t status =
      description.step(reinterpret_cast<tbem_rt_context*>(this), arena, static_cast<const double*>(code->scalars), seed);
  if (status == TBEM_OK) status = flushSegment();
  code->segments.end();
  return status;
}

/// What `work` asks of the device, between marks where there are some.
std::int32_t Instance::runMarked(const std::function<std::int32_t()>& work) {
  constexpr std::string_view kTime = "the step's time";
  if (told == nullptr) return work();
  if (const tbem_status begun = told->begin(); begun != TBEM_OK) return noted(begun, kTime);
  const std::int32_t status = work();
  return status != TBEM_OK ? status : noted(told->end(), kTime);
}

std::int32_t Instance::runOnDevice() {
  if (const tbem_status status = device.copy_in(code->scalars, scalarValues.data(), scalarValues.size() * sizeof(double));
      status != TBEM_OK)
    return noted(status, "the step's scalars");
  const auto step = [&] {
    return description.step(reinterpret_cast<tbem_rt_context*>(this), arena, static_cast<const double*>(code->scalars), seed);
  };
  const bool hasGates = !description.branches.empty();
  const auto piecewise = [&] { return runMarked([&] { return hasGates ? runInSegments() : step(); }); };
  const bool isFirst = !std::exchange(code->ranOnce, true);
  if (!stepTimes.empty()) return step();
  if (!code->canRecord || isFirst) return piecewise();
  if (!code->isRecorded(scalarValues, seed)) {
    code->forgetRecording();
    const tbem_status begun = code->device.record();
    if (begun != TBEM_OK && begun != TBEM_UNSUPPORTED) return noted(begun, "recording the step");
    std::int32_t status = begun;
    tbem_status ended = TBEM_OK;
    if (begun == TBEM_OK) {
      code->isRecording = true;
      status = step();
      code->isRecording = code->isWhere = false;
      ended = code->device.recorded(&code->recording);
    }
    if (begun == TBEM_UNSUPPORTED || (hasGates && (status == TBEM_UNSUPPORTED || ended == TBEM_UNSUPPORTED))) {
      code->forgetRecording();
      code->canRecord = false;
      return piecewise();
    }
    if (status != TBEM_OK || ended != TBEM_OK) {
      code->forgetRecording();  // a part of a step
      return status != TBEM_OK ? status : noted(ended, "recording the step");
    }
    code->recordedSeed = seed;
    code->recordedScalars.clear();
    for (const std::uint32_t slot : code->slots) code->recordedScalars.push_back(scalarValues[slot]);
  }
  return runMarked([&] { return noted(code->device.replay(code->recording), "the recorded step"); });
}

tbem_status Instance::noted(tbem_status status, std::string_view doing) {
  if (status != TBEM_OK && failedText.empty()) failedText = fmt::format("{}: {}", doing, lastError(device));
  return status;
}

std::int32_t Instance::launch(std::uint32_t kernel, std::span<const std::uint64_t> arguments, std::int64_t items,
                              std::int32_t threads) {
  if (kernel >= code->kernels.size()) return TBEM_INVALID;
  const auto word = [](auto number) { return static_cast<std::uint64_t>(number); };
  if (code->segments.takes(Segments::Kind::Launch, {kernel, word(items), word(threads)}, arguments)) return TBEM_OK;
  const auto count = static_cast<std::int32_t>(arguments.size());
  return noted(code->device.launch(code->kernels[kernel], arguments.data(), count, items, threads),
               fmt::format("loop kernel {}", kernel));
}
std::int32_t Instance::zero(void* memory, std::uint64_t bytes) {
  if (code->segments.takes(Segments::Kind::Zero, {wordOf(memory), bytes})) return TBEM_OK;
  return noted(code->device.zero(memory, bytes), "making memory zero");
}
std::int32_t Instance::move(void* to, const void* from, std::uint64_t bytes) {
  if (code->segments.takes(Segments::Kind::Move, {wordOf(to), wordOf(from), bytes})) return TBEM_OK;
  return noted(code->device.move(to, from, bytes), "a copy");
}
/// A branch that is recorded is for its one sample; whether it is there the device will decide.
std::int32_t Instance::count(const void* memory, std::int64_t& value) {
  if (code->isRecording) {
    value = 1;
    code->isWhere = true;
    const tbem_status status = code->device.record_where(memory);
    return status == TBEM_UNSUPPORTED ? status : noted(status, "recording a branch");
  }
  if (const std::int32_t status = flushSegment(); status != TBEM_OK) return status;
  return noted(device.copy_out(&value, memory, sizeof value), "the count of a branch");
}
std::int32_t Instance::join() {
  if (!std::exchange(code->isWhere, false)) return TBEM_OK;
  return noted(code->device.record_always(), "recording a branch");
}
std::int32_t Instance::microBatch(std::uint64_t number) {
  if (code->segments.takes(Segments::Kind::MicroBatch, {number})) return TBEM_OK;
  code->microBatch = number;
  return TBEM_OK;
}

}  // namespace tbem::runtime

namespace {
tbem::runtime::Instance& instanceOf(tbem_rt_context* context) { return *reinterpret_cast<tbem::runtime::Instance*>(context); }
}  // namespace

extern "C" int32_t tbem_rt_launch(tbem_rt_context* context, uint32_t kernel, const uint64_t* arguments, int32_t count,
                                  int64_t items, int32_t threads) {
  return instanceOf(context).launch(kernel, std::span(arguments, static_cast<std::size_t>(count)), items, threads);
}
extern "C" int32_t tbem_rt_zero(tbem_rt_context* context, char* memory, uint64_t bytes) {
  return instanceOf(context).zero(memory, bytes);
}
extern "C" int32_t tbem_rt_move(tbem_rt_context* context, char* to, const char* from, uint64_t bytes) {
  return instanceOf(context).move(to, from, bytes);
}
extern "C" int32_t tbem_rt_count(tbem_rt_context* context, const char* memory, int64_t* count) {
  return instanceOf(context).count(memory, *count);
}
extern "C" int32_t tbem_rt_join(tbem_rt_context* context) { return instanceOf(context).join(); }
extern "C" int32_t tbem_rt_micro_batch(tbem_rt_context* context, uint64_t number) {
  return instanceOf(context).microBatch(number);
}
