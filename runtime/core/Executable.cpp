#include "runtime/core/Executable.h"

#include "runtime/core/DeviceCode.h"
#include "runtime/core/Init.h"
#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tbem::runtime {

std::size_t HostTensor::count() const {
  std::size_t product = 1;
  for (std::int64_t d : dims) product *= static_cast<std::size_t>(d);
  return product;
}
std::vector<double> HostTensor::doubles() const {
  std::vector<double> values(count());
  toDoubles(dtype, data.data(), values);
  return values;
}
std::vector<std::int64_t> HostTensor::integers() const {
  if (dtype == TBEM_I64) {
    const auto* from = reinterpret_cast<const std::int64_t*>(data.data());
    return {from, from + count()};
  }
  const std::vector<double> values = doubles();
  return {values.begin(), values.end()};
}
HostTensor HostTensor::of(std::int32_t dtype, std::vector<std::int64_t> dims, std::span<const double> values) {
  HostTensor tensor{dtype, std::move(dims), {}};
  tensor.data.resize(values.size() * elementBytes(dtype));
  fromDoubles(dtype, values, tensor.data.data());
  return tensor;
}

tl::expected<std::unique_ptr<Instance>, Failure> Instance::create(const Executable& executable, const tbem_backend& backend,
                                                                  const ArenaOptions& options) {
  const Executable* const alone[] = {&executable};
  auto arena = Arena::create(alone, backend, options);
  if (!arena) return tl::make_unexpected(arena.error());
  auto instance = create(executable, **arena);
  if (instance) (*instance)->own = std::move(*arena);
  return instance;
}

tl::expected<std::unique_ptr<Instance>, Failure> Instance::create(const Executable& executable, Arena& arena) {
  if (executable.arena > arena.bytes()) {
    return tl::make_unexpected(
        Failure{TBEM_INVALID,
                fmt::format("the executable takes {} B; the arena, made for others, has {} B", executable.arena, arena.bytes())});
  }
  std::unique_ptr<Instance> instance(new Instance(executable, arena));
  instance->scalarValues = executable.scalars;
  if (instance->scalarValues.empty()) instance->scalarValues.push_back(0);
  if (arena.backend().device != nullptr) {
    if (auto done = instance->prepareDevice(); !done) return tl::make_unexpected(done.error());
  }
  if (auto done = instance->prepareCalls(); !done) return tl::make_unexpected(done.error());
  return instance;
}

Instance::Instance(const Executable& executable, Arena& arena)
    : description(executable), memory(arena), arena(arena.base()), device(arena.backend()) {}

Instance::~Instance() {
  for (Prepared& p : prepared) {
    for (Prepared& part : p.parts) p.ops.insert(p.ops.end(), part.ops.begin(), part.ops.end());
    for (tbem_op* op : p.ops) {
      if (op != nullptr) device.destroy(op);
    }
  }
}

tl::expected<void, Failure> Instance::initialise(std::uint64_t key) {
  seed = key;
  undrawn.clear();
  for (const StorageDesc& storage : description.storages) {
    if (storage.kind == BufferClass::Activation || storage.kind == BufferClass::Gradient) continue;  // written by the step
    if (auto done = fillStorage(storage, key); !done) return done;
  }
  return {};
}

tl::expected<void, Failure> Instance::fillStorage(const StorageDesc& storage, std::uint64_t key) {
  constexpr std::size_t kPart = 1U << 13U;  // doubles of a large weight are never all there at once
  const BufferDesc& buffer = description.buffers[storage.buffer];
  const tbem_operand& operand = buffer.operand;
  HostTensor tensor{operand.dtype, {operand.dims, operand.dims + operand.rank}, {}};
  const std::size_t count = tensor.count();
  const std::uint64_t size = elementBytes(operand.dtype);
  const bool isInput = storage.kind == BufferClass::Input, constant = !isInput && isConstant(storage.init);
  // Where the order of elements is row-major, or cannot be seen, they need no place of their own.
  const bool direct = isPlain(operand) || (constant && extentElements(operand) == elementCount(operand));
  std::vector<double> part(std::min(count, kPart));
  tensor.data.resize((direct ? part.size() : count) * size);
  for (std::size_t at = 0; at < count; at += kPart) {
    const std::span<double> values(part.data(), std::min(kPart, count - at));
    std::byte* const bytes = tensor.data.data() + (direct ? 0 : at * size);
    if (at == 0 || !constant || !direct) {
      auto filled = isInput ? fillInput(operand.dtype, storage.bound, key, storage.path, values, at)
                            : fillInit(storage.init, tensor.dims, key, storage.path, values, at);
      if (!filled && !isInput) return tl::make_unexpected(Failure{TBEM_INVALID, filled.error()});
      if (!filled) {  // who runs the step may write it first
        if (at == 0) undrawn.emplace_back(storage.buffer, filled.error());
        std::ranges::fill(values, 0);
      }
      fromDoubles(operand.dtype, values, bytes);
    }
    if (!direct) continue;
    const tbem_status status = device.copy_in(arena + buffer.offset + at * size, bytes, values.size() * size);
    if (status != TBEM_OK)
      return tl::make_unexpected(failure(status, fmt::format("buffer {} ({}) cannot be written", storage.buffer, buffer.name)));
  }
  if (direct) return {};
  return write(storage.buffer, tensor);
}

namespace {
/// "gather of `table[1].weight` (call 5)": a layer is known by its weight.
std::string describeCall(const Executable& description, std::uint32_t number) {
  const CallDesc& call = description.calls[number];
  std::string text = call.name;
  for (const StorageDesc& storage : description.storages) {
    if (storage.kind != BufferClass::Weight || storage.buffer >= description.buffers.size()) continue;
    const std::uint64_t place = description.buffers[storage.buffer].offset;
    const auto end = call.offsets.begin() + call.inputs;
    if (std::find(call.offsets.begin(), end, place) != end)
      return fmt::format("{} of `{}` (call {})", text, storage.path, number);
  }
  return fmt::format("{} (call {})", text, number);
}
}  // namespace

tl::expected<void, Failure> Instance::run(std::uint64_t step) {
  if (!undrawn.empty()) return tl::make_unexpected(Failure{TBEM_INVALID, whyNotDrawn()});
  scalarValues[0] = static_cast<double>(step);
  failedCall = kNone;
  failedText.clear();
  std::fill(stepTimes.begin(), stepTimes.end(), 0);
  if (!stepTimes.empty()) marked = std::chrono::steady_clock::now();
  // A step may write over them behind their last use.
  for (const auto& [offset, address] : lent) std::memcpy(arena + offset, &address, sizeof address);
  const std::int32_t status = code != nullptr
                                  ? runOnDevice()
                                  : description.step(reinterpret_cast<tbem_rt_context*>(this), arena, scalarValues.data(), seed);
  if (status == TBEM_OK && device.synchronize != nullptr) {
    if (tbem_status late = device.synchronize(); late != TBEM_OK)
      return tl::make_unexpected(failure(late, fmt::format("step {} failed", step)));
  }
  if (status == TBEM_OK) return {};
  const std::string where = failedCall == kNone ? std::string("native code") : describeCall(description, failedCall);
  if (failedCall != kNone && prepared[failedCall].own != nullptr) {
    std::vector<char>& message = prepared[failedCall].message;
    message.back() = '\0';
    return tl::make_unexpected(Failure{
        static_cast<tbem_status>(status),
        fmt::format("step {} failed in {}: {}", step, where, message.front() == '\0' ? "no reason given" : message.data())});
  }
  std::string what = fmt::format("step {} failed in {}", step, where);
  if (failedText.empty()) return tl::make_unexpected(failure(static_cast<tbem_status>(status), std::move(what)));
  return tl::make_unexpected(Failure{static_cast<tbem_status>(status), fmt::format("{}: {}", what, failedText)});
}

void Instance::lend(std::uint32_t buffer, const void* address) {
  const std::uint64_t offset = description.buffers[buffer].offset;
  const auto known = std::find_if(lent.begin(), lent.end(), [&](const auto& one) { return one.first == offset; });
  if (known != lent.end())
    known->second = address;
  else
    lent.emplace_back(offset, address);
}

std::optional<std::uint32_t> Instance::findStorage(std::string_view path) const {
  for (std::size_t i = 0; i < description.storages.size(); ++i) {
    if (description.storages[i].path == path) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

tl::expected<HostTensor, Failure> Instance::read(std::uint32_t buffer) const {
  if (buffer >= description.buffers.size())
    return tl::make_unexpected(Failure{TBEM_INVALID, fmt::format("there is no buffer {}", buffer)});
  const BufferDesc& b = description.buffers[buffer];
  HostTensor tensor{b.operand.dtype, {b.operand.dims, b.operand.dims + b.operand.rank}, {}};
  tensor.data.resize(tensor.count() * elementBytes(b.operand.dtype));
  std::vector<std::byte> raw(extentBytes(b.operand));
  if (raw.empty()) return tensor;
  if (tbem_status status = device.copy_out(raw.data(), arena + b.offset, raw.size()); status != TBEM_OK) {
    return tl::make_unexpected(failure(status, fmt::format("buffer {} ({}) cannot be read", buffer, b.name)));
  }
  toPlain(b.operand, raw.data(), tensor.data.data());
  return tensor;
}

tl::expected<void, Failure> Instance::write(std::uint32_t buffer, const HostTensor& value) {
  if (buffer >= description.buffers.size())
    return tl::make_unexpected(Failure{TBEM_INVALID, fmt::format("there is no buffer {}", buffer)});
  const BufferDesc& b = description.buffers[buffer];
  if (value.dtype != b.operand.dtype ||
      value.dims != std::vector<std::int64_t>(b.operand.dims, b.operand.dims + b.operand.rank) ||
      value.data.size() != value.count() * elementBytes(value.dtype)) {
    return tl::make_unexpected(
        Failure{TBEM_INVALID, fmt::format("the value for {} is {}[{}]; the buffer holds {}[{}]", b.name, dtypeName(value.dtype),
                                          fmt::join(value.dims, ", "), dtypeName(b.operand.dtype),
                                          fmt::join(b.operand.dims, b.operand.dims + b.operand.rank, ", "))});
  }
  std::erase_if(undrawn, [&](const auto& input) { return input.first == buffer; });
  tbem_operand exact = b.operand;
  exact.layout.bytes = extentBytes(b.operand);
  if (exact.layout.bytes == 0) return {};
  const auto raw = std::make_unique_for_overwrite<std::byte[]>(exact.layout.bytes);
  fromPlain(exact, value.data.data(), raw.get());
  if (tbem_status status = device.copy_in(arena + b.offset, raw.get(), exact.layout.bytes); status != TBEM_OK) {
    return tl::make_unexpected(failure(status, fmt::format("buffer {} ({}) cannot be written", buffer, b.name)));
  }
  return {};
}

tl::expected<HostTensor, Failure> Instance::readStorage(std::uint32_t storage) const {
  if (storage >= description.storages.size())
    return tl::make_unexpected(Failure{TBEM_INVALID, fmt::format("there is no storage {}", storage)});
  return read(description.storages[storage].buffer);
}
tl::expected<void, Failure> Instance::writeStorage(std::uint32_t storage, const HostTensor& value) {
  if (storage >= description.storages.size())
    return tl::make_unexpected(Failure{TBEM_INVALID, fmt::format("there is no storage {}", storage)});
  return write(description.storages[storage].buffer, value);
}

}  // namespace tbem::runtime
