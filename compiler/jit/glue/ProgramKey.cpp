#include "compiler/jit/glue/Modules.h"
#include "compiler/jit/loop/Bytes.h"

namespace tbem::jit {

namespace {

using estimate::BufferId;
using estimate::Program;
using estimate::Step;

class KeyWriter {
public:
  explicit KeyWriter(const Program& program) : program(program) {}

  std::string run() {
    bytes.string(program.target);
    steps();
    bytes.number(program.samples);
    bytes.number(program.micro.parts);
    bytes.number(program.micro.steps);
    chunks();
    for (std::size_t i = 1; i < program.branches.size(); ++i) {
      bytes.number(offsetOf(program.branches[i].rows));
      bytes.number(program.branches[i].samples);
      bytes.number(program.branches[i].ofEachSample);
    }
    microBatches();
    bytes.number(program.scalars.size());
    bytes.number(program.loops.size());
    for (const estimate::FusedLoop& fused : program.loops) loop(fused);
    return std::move(bytes.text);
  }

private:
  std::uint64_t offsetOf(BufferId id) const { return program.allocations[program[id].allocation].offset; }
  /// 0: there is none.
  std::uint64_t placeOf(BufferId id) const { return id == estimate::kNoBuffer ? 0 : offsetOf(id) + 1; }
  std::uint64_t partOf(BufferId id) const { return id == estimate::kNoBuffer ? 0 : program[id].part; }

  void steps() {
    bytes.number(program.steps.size());
    for (const Step& step : program.steps) {
      bytes.number(step.kind);
      bytes.number(step.index);
      bytes.number(step.branch);
      if (step.kind == Step::Kind::Call) bytes.number(program.calls[step.index].sizes.empty());
      if (step.kind == Step::Kind::Call && !program.target.empty()) call(program.calls[step.index]);
    }
  }

  /// Of a device: some are part of a kernel, and others say which steps may stand together.
  void call(const estimate::NativeCall& call) {
    bytes.number(call.own.symbol.empty() ? static_cast<int>(call.primitive) : -1);
    bytes.number(call.inputs);
    bytes.list(call.scalars);
    bytes.number(call.operands.size());
    for (const BufferId id : call.operands) {
      bytes.number(id != estimate::kNoBuffer);
      if (id != estimate::kNoBuffer) buffer(id);
    }
    bytes.number(placeOf(call.workspace));
    if (call.workspace != estimate::kNoBuffer) bytes.number(program.allocations[program[call.workspace].allocation].bytes);
  }

  void chunks() {
    bytes.number(program.chunks.size());
    for (const estimate::Chunk& chunk : program.chunks) {
      for (const std::uint32_t value : {chunk.first, chunk.last, chunk.branch}) bytes.number(value);
      bytes.number(chunk.samples);
      bytes.number(chunk.threads);
      for (const BufferId list : {chunk.rows, chunk.origin, program.branches[chunk.branch].origin}) bytes.number(placeOf(list));
      for (const BufferId list : {chunk.rows, chunk.origin}) bytes.number(partOf(list));
    }
  }

  void microBatches() {
    if (program.micro.parts > 1) buffer(program.micro.number);
    for (const BufferId sum : program.micro.zeroed) buffer(sum);
    bytes.number(program.micro.collected.size());
    for (const auto& collected : program.micro.collected) {
      buffer(collected.from);
      buffer(collected.to);
    }
  }

  void loop(const estimate::FusedLoop& fused) {
    bytes.list(fused.dims);
    bytes.number(fused.perSample);
    bytes.number(fused.samples);
    layout(fused.layout, fused.dims.size());
    bytes.nodes(fused.nodes);
    bytes.number(fused.inputs.size());
    for (const auto& input : fused.inputs) {
      buffer(input.buffer);
      bytes.list(input.axes);
    }
    bytes.number(fused.outputs.size());
    for (const auto& output : fused.outputs) {
      buffer(output.buffer);
      bytes.number(output.node);
      bytes.number(placeOf(output.rows));
      bytes.number(partOf(output.rows));
    }
  }

  void buffer(BufferId id) {
    const estimate::Buffer& b = program[id];
    bytes.number(offsetOf(id));
    bytes.number(program.allocations[b.allocation].bytes);
    const bool persists = program.allocations[b.allocation].persistent;  // says what only updates (LoopGroups.h)
    bytes.number((b.window ? 1 : 0) + (b.outside ? 2 : 0) + (persists ? 4 : 0));
    bytes.number(b.part);
    bytes.number(b.operand.dtype);
    bytes.number(b.operand.rank);
    for (int k = 0; k < b.operand.rank; ++k) bytes.number(b.operand.dims[k]);
    layout(b.operand.layout, static_cast<std::size_t>(b.operand.rank));
  }

  void layout(const tbem_layout& l, std::size_t rank) {
    for (std::size_t k = 0; k < rank; ++k) {
      bytes.number(l.strides[k]);
      bytes.number(l.padded[k]);
    }
    bytes.number(l.blocks);
    for (int i = 0; i < l.blocks; ++i) {
      bytes.number(l.block_dim[i]);
      bytes.number(l.block_size[i]);
    }
    bytes.number(l.bytes);
  }

  const Program& program;
  Bytes bytes;
};

}  // namespace

std::string programKey(const Program& program) { return KeyWriter(program).run(); }

}  // namespace tbem::jit
