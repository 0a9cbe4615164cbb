#include "compiler/estimate/Roofline.h"

#include "compiler/estimate/GateSeconds.h"

#include "compiler/sema/Value.h"

#include <algorithm>

namespace tbem::estimate {

namespace {

constexpr Count kMostMoved = Count{1} << 62U;  ///< of all steps: their sums are printed as 64 bits

/// Bytes of the operands, each buffer once as a source and once as a destination.
class Traffic {
public:
  explicit Traffic(const Program& program) : program(program) {}
  /// `rows`: only those of the samples that are there.
  void read(BufferId id, bool rows) { add(id, rows, reads); }
  void write(BufferId id, bool rows) { add(id, rows, writes); }
  std::uint64_t bytes = 0;
  std::uint64_t whole = 0;  ///< of `bytes`: whatever number of samples is there
  std::vector<BufferId> reads, writes;

private:
  void add(BufferId id, bool rows, std::vector<BufferId>& seen) {
    if (id == kNoBuffer || std::find(seen.begin(), seen.end(), id) != seen.end()) return;
    seen.push_back(id);
    bytes += program[id].operand.layout.bytes;  // of a few operands, each far from 64 bits (readDims)
    if (!rows) whole += program[id].operand.layout.bytes;
  }
  const Program& program;
};

Traffic trafficOf(const Program& program, const Step& step) {
  Traffic traffic(program);
  if (step.kind == Step::Kind::Call) {
    const NativeCall& call = program.calls[step.index];
    const bool movesRows = call.own.symbol.empty() && call.primitive == TBEM_PRIMITIVE_move_rows;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const bool rows = movesRows || (i < call.perSample.size() && call.perSample[i]);
      i < call.inputs ? traffic.read(call.operands[i], rows) : traffic.write(call.operands[i], rows);
    }
    // A slice and a gather read no more than they keep.
    if (call.own.symbol.empty() && (call.primitive == TBEM_PRIMITIVE_slice || call.primitive == TBEM_PRIMITIVE_gather)) {
      const std::uint64_t whole = program[call.operands.front()].operand.layout.bytes;
      const std::uint64_t left = whole - std::min(whole, program[call.operands.back()].operand.layout.bytes);
      traffic.bytes -= left;
      traffic.whole -= std::min(left, traffic.whole);
    }
  } else {
    const FusedLoop& loop = program.loops[step.index];
    for (const FusedLoop::Input& input : loop.inputs)
      traffic.read(input.buffer, loop.perSample && !input.axes.empty() && input.axes.front() == 0);
    for (const FusedLoop::Output& output : loop.outputs) traffic.write(output.buffer, loop.perSample);
  }
  return traffic;
}

/// The element type in which a step computes: that of its first floating result, else of its first floating operand.
std::optional<std::int32_t> computesIn(const Program& program, const Traffic& traffic) {
  for (const std::vector<BufferId>* list : {&traffic.writes, &traffic.reads}) {
    for (const BufferId id : *list) {
      if (tbem_is_floating(program[id].operand.dtype)) return program[id].operand.dtype;
    }
  }
  return std::nullopt;
}

struct Work {
  Count flops = 0;
  bool products = false;  ///< multiply-adds: what matrix units do
};

tl::expected<Work, std::string> workOf(const graph::Graph& graph, const sema::Values& values, const Step& step) {
  Work work;
  for (const graph::OpId id : step.ops) {
    for (const graph::FlopPart& part : graph[id].flops) {
      if (values.errorOf(part.count) != sema::EvalError::None || !values[part.count].isInt() || values[part.count].num < 0) {
        return tl::unexpected("`" + part.name + "` of `" + graph[id].declaration + "` has no value");
      }
      const bool isMac = part.name == "mac";
      work.flops += static_cast<Count>(values[part.count].num) * (isMac ? 2 : 1);
      work.products = work.products || isMac;
    }
  }
  return work;
}

/// The rate at which a step computes; nothing where the device has none.
std::optional<double> rateOf(const Device& device, std::int32_t dtype, const Work& work, bool tf32) {
  return tf32 && work.products && dtype == TBEM_F32 ? device.tf32 : device.rates[static_cast<std::size_t>(dtype)];
}

void leaveOut(Roofline& result, std::int32_t dtype, const StepCost& cost) {
  const std::string type(sema::kDTypeNames[static_cast<std::size_t>(dtype)]);
  auto at = std::find_if(result.leftOut.begin(), result.leftOut.end(), [&](const LeftOut& one) { return one.type == type; });
  if (at == result.leftOut.end()) at = result.leftOut.insert(at, LeftOut{type, {}, 0});
  at->flops += cost.flops;
  if (std::find(at->operators.begin(), at->operators.end(), cost.name) == at->operators.end()) at->operators.push_back(cost.name);
}

}  // namespace

tl::expected<Roofline, std::string> roofline(const graph::Graph& graph, const sema::Values& values, const Program& program,
                                             const Device& device, bool tf32) {
  Roofline result;
  result.device = device.name;
  result.type = tf32 ? "tf32" : "";
  result.branches = program.branches;
  if (tf32 && !device.tf32) return tl::unexpected(device.name + " has no rate `tf32`");
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const auto runs = static_cast<std::uint64_t>(program.runsOf(i));
    const Traffic traffic = trafficOf(program, step);
    const auto work = workOf(graph, values, step);
    if (!work) return tl::unexpected(work.error());
    if (static_cast<Count>(traffic.bytes) * runs + result.bytes > kMostMoved)
      return tl::unexpected(std::string("the bytes moved leave 2^62"));
    StepCost cost{step.name, step.range, work->flops * runs, traffic.bytes * runs};
    cost.branch = step.branch;
    cost.perSample = traffic.whole < traffic.bytes;
    cost.moving = cost.seconds = static_cast<double>(cost.bytes) / device.bandwidth;
    cost.movingWhole = static_cast<double>(traffic.whole * runs) / device.bandwidth;
    const std::optional<std::int32_t> dtype = computesIn(program, traffic);
    if (cost.flops != 0 && !dtype) result.wholeNumbers += cost.flops;
    if (cost.flops != 0 && dtype) {
      const std::optional<double> rate = rateOf(device, *dtype, *work, tf32);
      if (!rate) leaveOut(result, *dtype, cost);
      cost.arithmetic = rate ? toDouble(cost.flops) / *rate : 0;
      if (cost.arithmetic > cost.seconds) {
        cost.seconds = cost.arithmetic;
        cost.bound = Bound::Compute;
      }
    }
    result.flops += cost.flops;
    result.bytes += cost.bytes;
    result.stepSeconds += cost.seconds;
    if (cost.bound == Bound::Compute) result.computeSeconds += cost.seconds;
    result.steps.push_back(std::move(cost));
  }
  result.seconds = result.branches.empty() ? result.stepSeconds : secondsOfPaths(result).most;
  return result;
}

}  // namespace tbem::estimate
