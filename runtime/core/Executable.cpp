#include "runtime/core/Executable.h"

#include "runtime/core/Init.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Poison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kGranule = 64;  // in which a plan gives out the arena
std::uint64_t roundUp(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

/// What is wrong with an executable as a description; "" if nothing. A compiler's bug, found before it corrupts memory.
std::string checkExecutable(const Executable& e) {
  if (e.step == nullptr) return "it has no code";
  for (std::size_t i = 0; i < e.buffers.size(); ++i) {
    const BufferDesc& b = e.buffers[i];
    if (b.operand.present == 0) continue;
    if (std::string wrong = checkLayout(b.operand); !wrong.empty()) return fmt::format("buffer {} ({}): {}", i, b.name, wrong);
    if (b.offset > e.arena || extentBytes(b.operand) > e.arena - b.offset) {
      return fmt::format("buffer {} ({}) at {} with {} B leaves the arena of {} B", i, b.name, b.offset, extentBytes(b.operand),
                         e.arena);
    }
  }
  for (std::size_t i = 0; i < e.calls.size(); ++i) {
    const CallDesc& c = e.calls[i];
    const std::string name = fmt::format("call {} ({})", i, c.name);
    if (c.operands.size() != c.offsets.size() || c.operands.size() != static_cast<std::size_t>(c.inputs + c.outputs))
      return name + " has the wrong number of operands";
    if (!c.room.empty() && c.room.size() != c.operands.size()) return name + " has the wrong number of rooms";
    if (!c.moves.empty() && (c.moves.size() != c.operands.size() || e.microBatchAt > e.arena - sizeof(std::int64_t)))
      return name + " moves without a number of the micro-batch";
    for (std::size_t k = 0; k < c.operands.size(); ++k) {
      if (c.operands[k].present == 0) continue;
      const std::uint64_t moved = c.moves.empty() ? 0 : c.moves[k] * static_cast<std::uint64_t>(e.microBatches - 1);
      const std::uint64_t extent = c.room.empty() ? extentBytes(c.operands[k]) + moved : c.room[k];
      if (c.offsets[k] > e.arena || extent > e.arena - c.offsets[k])
        return fmt::format("{}: operand {} leaves the arena", name, k);
    }
    if (c.workspace != kAbsent && (c.workspace > e.arena || c.workspaceBytes > e.arena - c.workspace))
      return name + ": the workspace leaves the arena";
    if (!c.sizes.empty() && (c.sizes.back() > e.samples || c.perSample.size() != c.operands.size()))
      return name + " is not sized for the batch";
    if (!c.parts.empty() && (c.parts.size() != c.operands.size() || c.partSizes.empty() != c.sizes.empty()))
      return name + " is not sized for a thread's part";
    for (std::uint32_t slot : c.scalars) {
      if (slot >= std::max<std::size_t>(e.scalars.size(), 1)) return name + " reads a scalar that is not there";
    }
  }
  for (const BranchDesc& b : e.branches) {
    if (b.gate.empty()) continue;
    for (const std::uint32_t list : {b.rows, b.origin}) {
      if (list >= e.buffers.size() || e.buffers[list].operand.dtype != TBEM_I64 ||
          e.buffers[list].operand.dims[0] != 1 + e.samples)
        return fmt::format("a branch of '{}' has no list of its samples", b.gate);
    }
  }
  for (const StorageDesc& s : e.storages) {
    if (s.buffer >= e.buffers.size()) return fmt::format("storage '{}' has no buffer", s.path);
  }
  return {};
}

}  // namespace

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

std::string Instance::lastError() const {
  const char* text = device.last_error != nullptr ? device.last_error() : nullptr;
  return text != nullptr ? text : "";
}

Failure Instance::failure(tbem_status status, std::string what) const {
  const std::string text = lastError();
  return {status, text.empty() ? what : fmt::format("{}: {}", what, text)};
}

tl::expected<std::unique_ptr<Instance>, Failure> Instance::create(const Executable& executable, const tbem_backend& backend,
                                                                  const InstanceOptions& options) {
  if (std::string wrong = checkExecutable(executable); !wrong.empty()) {
    return tl::make_unexpected(Failure{TBEM_INVALID, "the executable is not sound: " + wrong});
  }
  std::unique_ptr<Instance> instance(new Instance(executable, backend));
  instance->scalarValues = executable.scalars;
  if (instance->scalarValues.empty()) instance->scalarValues.push_back(0);
  if (auto done = instance->allocateArena(options); !done) return tl::make_unexpected(done.error());
  if (auto done = instance->prepareCalls(); !done) return tl::make_unexpected(done.error());
  return instance;
}

Instance::~Instance() {
  for (Prepared& p : prepared) {
    for (Prepared& part : p.parts) p.ops.insert(p.ops.end(), part.ops.begin(), part.ops.end());
    for (tbem_op* op : p.ops) {
      if (op != nullptr) device.destroy(op);
    }
  }
  if (memory != nullptr) device.release(memory, memoryBytes);
}

tl::expected<void, Failure> Instance::allocateArena(const InstanceOptions& options) {
  guardBytes = roundUp(options.guard, kPage);
  memoryBytes = std::max<std::uint64_t>(description.arena, 64) + 2 * guardBytes;
  tbem_status status = device.allocate(memoryBytes, &memory);
  if (status == TBEM_OK && reinterpret_cast<std::uintptr_t>(memory) % kPage != 0) {
    // The backend promises 64 bytes; the plan wants a page. Take a page more and align by hand.
    device.release(memory, memoryBytes);
    memory = nullptr;
    memoryBytes += kPage;
    status = device.allocate(memoryBytes, &memory);
  }
  if (status != TBEM_OK) {
    memory = nullptr;
    return tl::make_unexpected(
        failure(status, fmt::format("backend {} cannot give an arena of {} B; take fewer samples, or a device with more memory",
                                    device.name, memoryBytes)));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  arena = static_cast<char*>(memory) + (roundUp(address, kPage) - address) + guardBytes;
  poisoned = options.poison;
  auto fill = [&](char* from, std::uint64_t bytes) { return bytes == 0 ? TBEM_OK : poisonDevice(device, from, bytes); };
  status = fill(arena - guardBytes, guardBytes);
  if (status == TBEM_OK) status = fill(arena + description.arena, guardBytes);
  if (status == TBEM_OK && poisoned) status = fill(arena, description.arena);
  if (status != TBEM_OK) return tl::make_unexpected(failure(status, "the arena cannot be filled"));
  return {};
}

tl::expected<void, Failure> Instance::initialise(std::uint64_t key) {
  seed = key;
  for (const StorageDesc& storage : description.storages) {
    if (storage.kind == BufferClass::Activation || storage.kind == BufferClass::Gradient) continue;  // written by the step
    if (auto done = fillStorage(storage, key); !done) return done;
  }
  return {};
}

tl::expected<void, Failure> Instance::fillStorage(const StorageDesc& storage, std::uint64_t key) {
  constexpr std::size_t kPart = 1U << 16U;  // doubles of a large weight are never all there at once
  const tbem_operand& operand = description.buffers[storage.buffer].operand;
  HostTensor tensor{operand.dtype, {operand.dims, operand.dims + operand.rank}, {}};
  const std::size_t count = tensor.count();
  const std::uint64_t size = elementBytes(operand.dtype);
  tensor.data.resize(count * size);
  std::vector<double> part(std::min(count, kPart));
  for (std::size_t at = 0; at < count; at += kPart) {
    const std::span<double> values(part.data(), std::min(kPart, count - at));
    auto filled = storage.kind == BufferClass::Input ? fillInput(operand.dtype, storage.bound, key, storage.path, values, at)
                                                     : fillInit(storage.init, tensor.dims, key, storage.path, values, at);
    if (!filled) return tl::make_unexpected(Failure{TBEM_INVALID, filled.error()});
    fromDoubles(operand.dtype, values, tensor.data.data() + at * size);
  }
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
  scalarValues[0] = static_cast<double>(step);
  failedCall = kNone;
  failedText.clear();
  std::fill(stepTimes.begin(), stepTimes.end(), 0);
  if (!stepTimes.empty()) marked = std::chrono::steady_clock::now();
  const std::int32_t status = description.step(reinterpret_cast<tbem_rt_context*>(this), arena, scalarValues.data(), seed);
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
  tbem_operand exact = b.operand;
  exact.layout.bytes = extentBytes(b.operand);
  std::vector<std::byte> raw(exact.layout.bytes);
  if (raw.empty()) return {};
  fromPlain(exact, value.data.data(), raw.data());
  if (tbem_status status = device.copy_in(arena + b.offset, raw.data(), raw.size()); status != TBEM_OK) {
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

tl::expected<ArenaReport, Failure> Instance::measureArena() const {
  if (!poisoned) return tl::make_unexpected(Failure{TBEM_INVALID, "the arena was not poisoned, so nothing can be measured"});
  ArenaReport report;
  report.planned = description.arena;
  std::vector<Written> allowed;
  for (const AllocationDesc& a : description.allocations) allowed.push_back({a.offset, a.offset + a.bytes});
  auto scan = scanDevice(device, arena, description.arena, allowed);
  auto before = scanDevice(device, arena - guardBytes, guardBytes, {});
  auto behind = scanDevice(device, arena + description.arena, guardBytes, {});
  for (const auto* part : {&scan, &before, &behind}) {
    if (!*part) return tl::make_unexpected(failure(part->error(), "the arena cannot be read"));
  }
  report.touched = scan->end;
  report.reached = scan->end;
  for (const Written& range : allowed) {
    if (range.begin < scan->end && scan->end <= range.end) report.reached = std::max(report.reached, range.end);
  }
  report.reached = roundUp(report.reached, kGranule);
  report.stray = scan->stray;
  report.guardIntact = before->end == 0 && behind->end == 0;
  return report;
}

}  // namespace tbem::runtime
