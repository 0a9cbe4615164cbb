#include "compiler/embed/Step.h"

#include "compiler/driver/RunPipeline.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/jit/glue/Outside.h"
#include "compiler/run/weights/RunStep.h"
#include "compiler/show/rows/StepReport.h"
#include "runtime/core/Layout.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace tbem::embed {

namespace {

using driver::RowState;
using estimate::BufferId;

constexpr std::size_t kAlignment = 64;  ///< what vector instructions like best

/// Memory of its own for so many bytes; their values are whatever they are.
Memory memoryOf(std::uint64_t bytes) {
  struct Aligned {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }
  };
  return {static_cast<std::byte*>(::operator new (std::max<std::uint64_t>(bytes, 1), std::align_val_t{kAlignment})), Aligned{}};
}

std::optional<BufferId> bufferOf(const RowState& row, graph::TensorId tensor) {
  const BufferId buffer = row.program->bufferOf[graph::index(tensor)];
  return buffer == estimate::kNoBuffer ? std::nullopt : std::optional(buffer);
}

bool isInput(const RowState& row, graph::TensorId tensor) {
  const auto& inputs = row.elaborated->graph().inputs;
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

/// Code of the program's own, of which only a terminal tells when it is opened for the first time; "": there is none.
std::string ownCode(const estimate::Program& program) {
  for (const estimate::NativeCall& call : program.calls) {
    if (!call.own.symbol.empty()) return graph::isOpaque(call.own) ? "opaque `" + call.own.symbol + "`" : call.own.library;
  }
  return {};
}

/// The shape of a buffer with the strides that it has in memory; blocks have none, so row-major ones stand there.
Shape shapeOf(const tbem_operand& operand) {
  Shape shape = rowMajor(operand.dtype, {operand.dims, operand.dims + operand.rank});
  if (operand.layout.blocks == 0) shape.strides.assign(operand.layout.strides, operand.layout.strides + operand.rank);
  return shape;
}

}  // namespace

Answer Step::compile(const Session& session, std::span<const tbem_option> options) {
  auto invocation = session.invocation(Question::Step, options);
  if (!invocation) return refusal(std::move(invocation).error());
  command = std::move(*invocation);
  state.emplace(command->options(), out);
  state->firstRowOnly = true;
  state->keepResults = true;
  int status = lower();
  if (status == kOk) status = makeCode();
  status = driver::finish(out, *state, status);
  state->bugContext.reset();  // of this thread, which the step may leave
  return answerOf(out, status);
}

int Step::lower() {
  if (const auto lowered = driver::runStages(*state, "lower"); !lowered) return out.fail(lowered.error());
  if (driver::firstRow(out, *state,
                       "there is no step to run: the program has no design of a network (or give `input`, and "
                       "`task`, for its network)") == nullptr)
    return kUsage;
  RowState& row = state->rows.front();
  if (const std::string library = ownCode(*row.program); !library.empty()) {
    out.failure(fmt::format("the step runs code of {}, which this interface does not open: the program tbemc does", library));
    return kUsage;
  }
  for (const graph::TensorId input : row.elaborated->graph().inputs) {
    const auto buffer = bufferOf(row, input);
    if (buffer && jit::whyInside(*row.program, *buffer).empty()) jit::moveOutside(*row.program, *buffer);
  }
  return kOk;
}

int Step::makeCode() {
  if (const auto compiled = driver::runStages(*state, "code"); !compiled) return out.fail(compiled.error());
  const auto failed = [&](const std::string& why) {
    out.failure(why);
    return kRunFailed;
  };
  auto created = runtime::Instance::create(row().compiled->executable, *state->backend.backend);
  if (!created) return failed(created.error().message);
  instance = std::move(*created);
  if (const auto filled = instance->initialise(state->request.target.seed); !filled) return failed(filled.error().message);
  // What lies outside is lent below, so that it could no longer be told from what somebody gave.
  if (const std::string why = instance->whyNotDrawn(); !why.empty()) return failed(why);
  listTensors();
  if (const Done placed = placeOutside(); !placed) return failed(placed.error());
  return kOk;
}

void Step::listTensors() {
  const auto add = [&](const driver::StepArray& array, bool begins) {
    const auto buffer = bufferOf(row(), array.tensor);
    if (!buffer) return;  // an input that the step does not read
    StepTensor tensor{array.name, static_cast<std::uint32_t>(*buffer), begins, {}, {}, {}, {}, {}, false};
    const tbem_operand& operand = instance->executable().buffers[tensor.buffer].operand;
    tensor.shape = shapeOf(operand);
    tensor.copiedOut = whyNoCode(operand.dtype);
    if (tensor.copiedOut.empty() && operand.layout.blocks != 0)
      tensor.copiedOut = "the step keeps it in blocks, which are no strides";
    const estimate::Buffer& planned = (*row().program)[*buffer];
    tensor.copiedIn = !begins                         ? "it is a result of the step"
                      : !isInput(row(), array.tensor) ? "the step keeps it, and changes it there"
                      : planned.outside               ? whyNoCode(operand.dtype)
                                                      : jit::whyInside(*row().program, *buffer);
    all.push_back(std::move(tensor));
  };
  for (const driver::StepArray& array : driver::arraysBefore(row())) add(array, true);
  for (const driver::StepArray& array : driver::arraysAfter(row(), state->keepResults)) add(array, false);
}

/// What lies outside of the arena has memory of the step's own until the caller's is shared.
Done Step::placeOutside() {
  for (StepTensor& tensor : all) {
    if (!tensor.begins || !(*row().program)[static_cast<BufferId>(tensor.buffer)].outside) continue;
    const auto value = instance->read(tensor.buffer);
    if (!value) return tl::unexpected(value.error().message);
    tensor.own = memoryOf(value->data.size());
    std::memcpy(tensor.own.get(), value->data.data(), value->data.size());
    shareIn(tensor, tensor.own, false);
  }
  return {};
}

tl::expected<StepTensor*, std::string> Step::find(const std::string& name) {
  std::vector<std::string> names;
  for (StepTensor& tensor : all) {
    if (tensor.name == name) return &tensor;
    names.push_back(tensor.name);
  }
  const std::string close = nearest(name, names);
  return tl::unexpected(fmt::format(
      "the step has no tensor `{}`{}", name,
      close.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : fmt::format(": did you mean `{}`?", close)));
}

Done Step::copyIn(StepTensor& to, const Viewed& from) {
  std::vector<std::byte> elements = elementsOf(from);
  if (to.own != nullptr) {
    std::memcpy(to.own.get(), elements.data(), elements.size());
    shareIn(to, to.own, false);
    return {};
  }
  const auto written = instance->write(to.buffer, {to.shape.dtype, to.shape.dims, std::move(elements)});
  return written ? Done() : tl::unexpected(written.error().message);
}

std::string Step::whyNotShared(const StepTensor& to, const Viewed& from) const {
  if (!to.copiedIn.empty()) return to.copiedIn;
  if (!from.shape.isRowMajor()) return "it is not row-major";
  const auto address = reinterpret_cast<std::uintptr_t>(from.data);
  if (address % runtime::elementBytes(to.shape.dtype) != 0) return "it is not aligned as its elements are";
  const auto arena =
      reinterpret_cast<std::uintptr_t>(instance->address(to.buffer)) - instance->executable().buffers[to.buffer].offset;
  if (address < arena + instance->executable().arena && arena < address + from.shape.bytes())
    return "it is memory of this step, which writes there";
  return {};
}

void Step::shareIn(StepTensor& to, Memory memory, bool readOnly) {
  to.lies = std::move(memory);
  to.readOnly = readOnly;
  instance->lend(to.buffer, to.lies.get());
}

tl::expected<Memory, std::string> Step::copyOut(const StepTensor& from) const {
  Memory memory = memoryOf(from.shape.bytes());
  if (from.lies != nullptr) {
    std::memcpy(memory.get(), from.lies.get(), from.shape.bytes());
    return memory;
  }
  const auto value = instance->read(from.buffer);
  if (!value) return tl::unexpected(value.error().message);
  std::memcpy(memory.get(), value->data.data(), value->data.size());
  return memory;
}

Memory Step::shareOut(const StepTensor& from, const std::shared_ptr<Step>& self) const {
  if (from.lies != nullptr) return from.lies;
  return {self, static_cast<std::byte*>(const_cast<void*>(instance->address(from.buffer)))};
}

Answer Step::run(std::uint32_t steps, bool tells) {
  const BugContext bugs(programOf, &state->workspace->session);
  show::JsonOut told;
  const auto failed = [&](const std::string& why) {
    told.failure(why);
    return answerOf(told, kRunFailed);
  };
  const double start = measure::monotonicSeconds();
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (const auto ran = instance->run(++done); !ran) return failed(ran.error().message);
  }
  if (!tells) return answerOf(told, kOk);
  driver::StepOutcome outcome;
  outcome.seconds = (measure::monotonicSeconds() - start) / steps;
  if (const auto read = driver::readOutcome(row(), *instance, outcome); !read) return failed(read.error());
  const auto look = [&](const std::string& name, const runtime::HostTensor& value) {
    if (const std::size_t count = driver::countNotFinite(value); count != 0)
      outcome.notFinite.push_back({name, count, value.count()});
  };
  if (const auto looked = driver::visitAfter(row(), *instance, state->keepResults, look); !looked) return failed(looked.error());
  driver::printStep(told, row(), state->backendName, outcome, "");
  return answerOf(told, kOk);
}

}  // namespace tbem::embed
