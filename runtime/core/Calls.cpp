// The native calls of an executable: prepared, and run for native code; loops and parts of it on the backend's threads.
#include "runtime/core/DeviceCode.h"
#include "runtime/core/Executable.h"
#include "runtime/core/Native.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace tbem::runtime {

tl::expected<void, Failure> Instance::prepareCalls() {
  prepared.resize(description.calls.size());
  for (std::size_t i = 0; i < description.calls.size(); ++i) {
    const CallDesc& call = description.calls[i];
    prepared[i].place(call, arena, -1);
    if (!call.symbol.empty()) {
      if (auto done = prepareOwn(i); !done) return done;
      continue;
    }
    if (!call.parts.empty()) prepared[i].parts.resize(static_cast<std::size_t>(description.threads));
    for (std::size_t t = 0; t < prepared[i].parts.size(); ++t)
      prepared[i].parts[t].place(call, arena, static_cast<std::int64_t>(t));
    if (auto done = prepareLargest(i, -1); !done) return done;
    for (std::size_t t = 0; t < prepared[i].parts.size(); ++t) {
      if (auto done = prepareLargest(i, static_cast<std::int64_t>(t)); !done) return done;
    }
  }
  return {};
}

void Instance::Prepared::place(const CallDesc& call, char* arena, std::int64_t part) {
  const auto moved = [&](std::uint64_t by) { return part < 0 ? 0 : by * static_cast<std::uint64_t>(part); };
  for (std::size_t k = 0; k < call.offsets.size(); ++k) {
    const std::uint64_t offset = call.offsets[k];
    operands.push_back(offset == kAbsent ? nullptr : arena + offset + moved(call.parts.empty() ? 0 : call.parts[k]));
  }
  if (call.workspace != kAbsent && call.workspaceBytes != 0) workspace = arena + call.workspace + moved(call.workspacePart);
  slots = call.scalars;
  scalars.resize(slots.size());
  const std::vector<std::int64_t>& sizes = part < 0 ? call.sizes : call.partSizes;
  ops.assign(std::max<std::size_t>(sizes.size(), 1), nullptr);
}

tl::expected<void, Failure> Instance::prepareLargest(std::size_t number, std::int64_t part) {
  const CallDesc& call = description.calls[number];
  const std::vector<std::int64_t>& sizes = part < 0 ? call.sizes : call.partSizes;
  tbem_op** const op = &at(number, part).ops.back();
  const tbem_status status = prepare(call, sizes.empty() ? call.samples : sizes.back(), part, op);
  if (status == TBEM_OK) return {};
  *op = nullptr;
  return tl::make_unexpected(
      failure(status, fmt::format("backend {} cannot prepare {} (call {})", device.name, call.name, number)));
}

tbem_status Instance::prepare(const CallDesc& call, std::int64_t samples, std::int64_t part, tbem_op** out) const {
  std::vector<tbem_operand> operands = call.operands;
  for (std::size_t k = 0; k < operands.size() && samples != call.samples; ++k) {
    if (call.perSample[k]) tbem_take_rows(&operands[k], call.samples, samples);
  }
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = call.primitive;
  desc.inputs = call.inputs;
  desc.outputs = call.outputs;
  desc.operands = operands.data();
  desc.attributes = call.attributes.data();
  desc.attribute_count = static_cast<std::int32_t>(call.attributes.size());
  desc.threads = part < 0 ? description.threads : 1;
  desc.algorithm = call.algorithm;
  desc.tf32 = description.tf32;
  return device.create(&desc, out);
}

tbem_op* Instance::sized(std::size_t number, std::int64_t samples, std::int64_t part) {
  const CallDesc& call = description.calls[number];
  const std::vector<std::int64_t>& sizes = part < 0 ? call.sizes : call.partSizes;
  std::vector<tbem_op*>& ops = at(number, part).ops;
  const auto i = static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), samples) - sizes.begin());
  if (samples == 0 || i >= ops.size()) return ops.back();
  if (ops[i] == nullptr && prepare(call, sizes[i], part, &ops[i]) != TBEM_OK) ops[i] = nullptr;
  return ops[i];
}

namespace {
void ownParallel(const tbem_native_args* args, void (*body)(void*, std::int64_t, std::int64_t), void* context,
                 std::int64_t count) {
  static_cast<const tbem_backend*>(args->runtime)->parallel(args->threads, body, context, count);
}
}  // namespace

tl::expected<void, Failure> Instance::prepareOwn(std::size_t number) {
  const CallDesc& call = description.calls[number];
  Prepared& p = prepared[number];
  const auto code = loadNative(call.library, call.symbol);
  if (!code) {
    return tl::make_unexpected(
        Failure{TBEM_FAILED, fmt::format("{}: {} of {}: {}", call.name, call.symbol, call.library, code.error().text)});
  }
  p.own = code->run;
  p.message.assign(256, '\0');
  tbem_native_args& args = p.args;
  args.size = sizeof args;
  args.threads = description.threads;
  args.inputs = call.inputs;
  args.outputs = call.outputs;
  args.operands = call.operands.data();
  args.data = p.operands.data();
  args.attributes = call.attributes.data();
  args.scalars = p.scalars.data();
  args.attribute_count = static_cast<std::int32_t>(call.attributes.size());
  args.scalar_count = static_cast<std::int32_t>(p.scalars.size());
  args.workspace = p.workspace;
  args.workspace_bytes = p.workspace == nullptr ? 0 : call.workspaceBytes;
  args.parallel = ownParallel;
  args.message = p.message.data();
  args.message_size = static_cast<std::uint32_t>(p.message.size());
  args.runtime = &device;
  return {};
}

std::int32_t Instance::call(std::uint32_t number, std::int64_t samples, std::int64_t part) {
  if (number >= prepared.size() || part >= static_cast<std::int64_t>(prepared[number].parts.size())) return TBEM_INVALID;
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  if (code != nullptr && code->segments.takes(Segments::Kind::Call, {number, word(samples), word(part)})) return TBEM_OK;
  Prepared& p = at(number, part);
  const CallDesc& planned = description.calls[number];
  if (!planned.moves.empty()) {
    const auto* const onDevice = code.get();
    const std::uint64_t microBatch =
        onDevice != nullptr ? onDevice->microBatch : *reinterpret_cast<const std::uint64_t*>(arena + description.microBatchAt);
    for (std::size_t k = 0; k < p.operands.size(); ++k) {
      if (planned.moves[k] != 0) p.operands[k] = arena + planned.offsets[k] + microBatch * planned.moves[k];
    }
  }
  if (!planned.outside.empty()) {
    for (std::size_t k = 0; k < p.operands.size(); ++k) {
      if (planned.outside[k]) p.operands[k] = *reinterpret_cast<void* const*>(arena + planned.offsets[k]);
    }
  }
  for (std::size_t i = 0; i < p.slots.size(); ++i) p.scalars[i] = scalarValues[p.slots[i]];
  if (p.own != nullptr) {
    const std::int32_t own = p.own(&p.args);
    if (own != TBEM_OK) failedCall = number;
    return own < TBEM_OK || own > TBEM_INVALID ? TBEM_FAILED : own;
  }
  tbem_op* op = sized(number, samples, part);
  const tbem_status status = op == nullptr ? TBEM_FAILED : device.run(op, p.operands.data(), p.workspace, p.scalars.data());
  if (status != TBEM_OK) noteFailure(number);
  return status;
}

/// What a backend says of a failure, it says to the thread that ran the call.
void Instance::noteFailure(std::uint32_t number) {
  const std::lock_guard lock(failing);
  if (failedCall != kNone) return;
  failedCall = number;
  failedText = lastError(device);
}

namespace {
struct LoopCall {
  tbem_rt_loop loop;
  char* arena;
  const double* scalars;
  std::uint64_t seed;
};
void runRange(void* context, std::int64_t begin, std::int64_t end) {
  const auto* c = static_cast<const LoopCall*>(context);
  c->loop(c->arena, c->scalars, c->seed, begin, end);
}
}  // namespace

void Instance::parallel(tbem_rt_loop loop, char* base, const double* values, std::uint64_t key, std::int64_t count) {
  LoopCall context{loop, base, values, key};
  device.parallel(description.threads, runRange, &context, count);
}

namespace {
struct PartCall {
  tbem_rt_part code;
  tbem_rt_context* context;
  char* arena;
  const double* scalars;
  std::uint64_t seed;
  std::int64_t samples;
  std::atomic<std::int32_t> status{TBEM_OK};
};
void runParts(void* context, std::int64_t begin, std::int64_t end) {
  auto* c = static_cast<PartCall*>(context);
  for (std::int64_t part = begin; part < end; ++part) {
    const std::int32_t status = c->code(c->context, c->arena, c->scalars, c->seed, part, c->samples);
    if (status != TBEM_OK) c->status = status;
  }
}
}  // namespace

std::int32_t Instance::parts(tbem_rt_part code, char* base, const double* values, std::uint64_t key, std::int64_t samples) {
  PartCall context{code, reinterpret_cast<tbem_rt_context*>(this), base, values, key, samples};
  device.parallel(description.threads, runParts, &context, description.threads);
  return context.status;
}

void Instance::mark(std::uint32_t step, std::int64_t part) {
  if (step >= stepTimes.size() || part > 0) return;
  if (code != nullptr) (void)noted(device.synchronize(), "the step");
  const auto now = std::chrono::steady_clock::now();
  stepTimes[step] += std::chrono::duration<double>(now - marked).count();
  marked = now;
}

}  // namespace tbem::runtime

extern "C" int32_t tbem_rt_call(tbem_rt_context* context, uint32_t call, int64_t samples, int64_t part) {
  return reinterpret_cast<tbem::runtime::Instance*>(context)->call(call, samples, part);
}
extern "C" void tbem_rt_parallel(tbem_rt_context* context, tbem_rt_loop loop, char* arena, const double* scalars, uint64_t seed,
                                 int64_t count) {
  reinterpret_cast<tbem::runtime::Instance*>(context)->parallel(loop, arena, scalars, seed, count);
}
extern "C" int32_t tbem_rt_parts(tbem_rt_context* context, tbem_rt_part code, char* arena, const double* scalars, uint64_t seed,
                                 int64_t samples) {
  return reinterpret_cast<tbem::runtime::Instance*>(context)->parts(code, arena, scalars, seed, samples);
}
extern "C" void tbem_rt_mark(tbem_rt_context* context, uint32_t step, int64_t part) {
  reinterpret_cast<tbem::runtime::Instance*>(context)->mark(step, part);
}
