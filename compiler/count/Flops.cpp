#include "compiler/count/Flops.h"

#include "compiler/count/Conventions.h"
#include "compiler/count/Dims.h"
#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/ir/Walk.h"

#include <algorithm>

namespace tbem::estimate {

using graph::Op;
using graph::OpKind;
using graph::Phase;

std::string toString(Count count) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(count % 10)));
    count /= 10;
  } while (count != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

double toDouble(Count count) { return static_cast<double>(count); }

namespace {
/// A whole number of at least `least`, or why there is none.
tl::expected<std::int64_t, std::string> whole(const sema::Values& values, graph::ExprId id, std::int64_t least) {
  if (id == sema::kNoExpr) return tl::unexpected(std::string("is missing"));
  if (values.errorOf(id) != sema::EvalError::None) return tl::unexpected(std::string(describe(values.errorOf(id))));
  if (!values[id].isInt()) return tl::unexpected("is " + values[id].str() + ", not an integer");
  if (values[id].num < least) return tl::unexpected("is " + values[id].str() + ", less than " + std::to_string(least));
  return values[id].num;
}

tl::expected<std::int64_t, NoValue> elements(const graph::Graph& graph, const sema::Values& values, graph::TensorId tensor) {
  const auto dims = dimsOf(graph, values, tensor);
  if (!dims) return tl::unexpected(dims.error());
  std::int64_t count = 1;
  for (const std::int64_t dim : *dims) count *= dim;  // dimsOf has checked that this fits
  return count;
}

/// What an operator's `flops` add up to.
struct OwnFlops {
  Count flops = 0;  ///< by the convention
  Count macs = 0;
};
tl::expected<OwnFlops, NoValue> ownFlops(const graph::Graph& graph, const Op& op, const sema::Values& values,
                                         const Convention& convention) {
  const auto factor = [&](graph::ExprId id) -> tl::expected<std::int64_t, NoValue> {
    if (id == sema::kNoExpr) return 1;
    const auto number = whole(values, id, 1);
    if (!number) return tl::unexpected(NoValue{"an attribute of `" + op.declaration + "` " + number.error(), op.range});
    return *number;
  };
  const CountWeights weights = countWeights(convention, graph, op);
  OwnFlops own;
  __int128 sum = 0;  // single summands may be negative
  for (const graph::FlopPart& part : op.flops) {
    const auto count = whole(values, part.count, 0);
    if (!count) return tl::unexpected(NoValue{"`" + part.name + "` of `" + op.declaration + "` " + count.error(), op.range});
    sum += static_cast<__int128>(*count) * weights.of(part);
    if (part.name == "mac") own.macs += static_cast<Count>(*count);
  }
  if (weights.countsResults()) {
    const auto window = factor(weights.window);
    if (!window) return tl::unexpected(window.error());
    for (const graph::TensorId result : op.outputs) {
      const auto count = elements(graph, values, result);
      if (!count) return tl::unexpected(count.error());
      sum += static_cast<__int128>(*count) * (weights.result + weights.side * *window);
    }
  }
  const auto groups = factor(weights.groups);
  if (!groups) return tl::unexpected(groups.error());
  own.flops = static_cast<Count>(sum * *groups);
  return own;
}

/// Adds up what it visits.
class Counter {
public:
  Counter(const graph::Graph& g, const sema::Values& v, const Convention& c)
      : graph(g), values(v), convention(c), branches(graph::branchesOf(g)) {
    byBranch.assign(branches.list.size(), 0);
  }

  struct Range {
    PhaseCounts least, most;
  };
  const Range& total() const { return open.front().total; }
  const std::vector<graph::Branch>& list() const { return branches.list; }

  void visit(graph::OpId id) {
    const Op& op = graph[id];
    const auto own = ownFlops(graph, op, values, convention);
    if (!own) {
      if (!error) error = own.error();
      return;
    }
    const auto runs = static_cast<Count>(graph::runsOf(graph, op));
    const Count flops = own->flops * runs, macs = own->macs * runs;
    PhaseCounts counts;
    of(counts, op) = flops;
    add({counts, counts});
    byBranch[branches.of[graph::index(id)]] += flops;
    const bool isUpdate = op.phase == Phase::Optimizer;
    if (flops != 0 || (macs != 0 && !isUpdate)) record(op, flops, macs);
    if (op.kind == OpKind::Exit) open.back().isLeft = true;
  }
  void enter(const graph::Arm&) { open.emplace_back(); }
  /// A sample takes one arm of a gate: all take the cheapest, or all the dearest.
  void leave(const graph::Arm& arm) {
    const Range inner = open.back().total;
    open.pop_back();
    Range& arms = open.back().arms;
    if (arm.position == 0 || inner.least.step() < arms.least.step()) arms.least = inner.least;
    if (arm.position == 0 || inner.most.step() > arms.most.step()) arms.most = inner.most;
    if (arm.isLast) add(arms);
  }

  std::optional<NoValue> error;  ///< the first
  std::map<std::string, OperatorCounts> byOperator;
  std::vector<Count> byBranch;

private:
  /// To the region at hand.
  void add(const Range& range) {
    addTo(open.back().total.most, range.most);
    if (!open.back().isLeft) addTo(open.back().total.least, range.least);
  }
  static void addTo(PhaseCounts& a, const PhaseCounts& b) {
    a.forward += b.forward;
    a.backward += b.backward;
    a.optimizer += b.optimizer;
    a.recomputed += b.recomputed;
  }
  static Count& of(PhaseCounts& counts, const Op& op) {
    if (op.repeats) return counts.recomputed;
    return op.phase == Phase::Forward ? counts.forward : (op.phase == Phase::Backward ? counts.backward : counts.optimizer);
  }

  void record(const Op& op, Count flops, Count macs) {
    const bool isGradient = op.phase == Phase::Backward;
    const std::string& name = isGradient && op.forward != graph::kNoOp ? graph[op.forward].declaration : op.declaration;
    OperatorCounts& counts = byOperator[name];
    if (op.phase == Phase::Optimizer || op.repeats) {
      (op.repeats ? counts.recomputed : counts.optimizer) += flops;
      return;
    }
    (isGradient ? counts.backward : counts.forward) += flops;
    (isGradient ? counts.macBackward : counts.macForward) += 2 * macs;
  }

  const graph::Graph& graph;
  const sema::Values& values;
  const Convention& convention;
  graph::Branches branches;
  struct Open {
    Range total;
    Range arms;           ///< of the gate at hand
    bool isLeft = false;  ///< the first exit has been passed: the least may have stopped there
  };
  std::vector<Open> open = std::vector<Open>(1);  ///< the regions around what is visited
};
}  // namespace

std::optional<NoValue> readDims(const graph::Graph& graph, const sema::Values& values, graph::TensorId id,
                                std::vector<std::int64_t>& dims) {
  const graph::Tensor& tensor = graph[id];
  dims.clear();
  std::int64_t product = 8;  // bytes of the widest element
  for (std::size_t k = 0; k < tensor.shape.size(); ++k) {
    const auto dim = whole(values, tensor.shape[k], 1);
    if (!dim) return NoValue{"dimension " + std::to_string(k) + " of `" + tensor.name + "` " + dim.error(), tensor.range};
    // Padding to blocks can double a dimension a few times: stay far from 64 bits.
    if (*dim > (std::int64_t{1} << 40) || static_cast<__int128>(product) * *dim > (std::int64_t{1} << 54))
      return NoValue{"the size of `" + tensor.name + "` leaves 2^54 bytes", tensor.range};
    product *= *dim;
    dims.push_back(*dim);
  }
  if (dims.size() > TBEM_MAX_RANK) {
    return NoValue{
        "`" + tensor.name + "` has " + std::to_string(dims.size()) + " dimensions, more than " + std::to_string(TBEM_MAX_RANK),
        tensor.range};
  }
  return std::nullopt;
}

tl::expected<std::vector<std::int64_t>, NoValue> dimsOf(const graph::Graph& graph, const sema::Values& values,
                                                        graph::TensorId id) {
  std::vector<std::int64_t> dims;
  if (auto fault = readDims(graph, values, id, dims)) return tl::unexpected(*std::move(fault));
  return dims;
}

tl::expected<Flops, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values, const Convention& convention) {
  Counter counter(graph, values, convention);
  graph::walk(graph, counter);
  if (counter.error) return tl::unexpected(*std::move(counter.error));
  Flops flops;
  flops.most = counter.total().most;
  flops.least = counter.total().least;
  flops.gated = graph::firstGate(graph) != nullptr;
  flops.byOperator = std::move(counter.byOperator);
  flops.byBranch = std::move(counter.byBranch);
  flops.samples.assign(flops.byBranch.size(), 0);
  const std::vector<graph::Branch>& list = counter.list();
  for (std::size_t b = 1; b < list.size(); ++b) {
    const auto shape = dimsOf(graph, values, graph[list[b].gate].inputs.front());
    if (!shape) return tl::unexpected(shape.error());
    flops.samples[b] = shape->front();
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    const auto count = elements(graph, values, weight.value);
    if (!count) return tl::unexpected(count.error());
    flops.parameters += *count;
  }
  for (const graph::TensorId buffer : graph.buffers) {
    const auto count = elements(graph, values, buffer);
    if (!count) return tl::unexpected(count.error());
    flops.buffers += *count;
  }
  return flops;
}

tl::expected<Count, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values, std::span<const graph::OpId> ops) {
  Count sum = 0;
  for (const graph::OpId id : ops) {
    const auto own = ownFlops(graph, graph[id], values, fullConvention());
    if (!own) return tl::unexpected(own.error());
    sum += own->flops * static_cast<Count>(graph::runsOf(graph, graph[id]));
  }
  return sum;
}

tl::expected<Flops, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values) {
  return countFlops(graph, values, fullConvention());
}

}  // namespace tbem::estimate
