#include "compiler/estimate/Formulas.h"

#include "compiler/count/Conventions.h"
#include "compiler/count/Layout.h"
#include "compiler/graph/ir/Walk.h"

#include <algorithm>
#include <array>
#include <map>

namespace tbem::estimate {

using graph::index;
using graph::Phase;
using sema::ExprId;
using sema::ExprOp;

namespace {

/// Roots by position; the operators' follow, kOperatorRoots each.
enum Root : std::size_t { kRegular, kParameters, kBuffers, kBytes, kMoment, kFirstKind, kFirstOperator = kFirstKind + kKinds };
/// The fields of OperatorCounts, in their order.
constexpr std::size_t kOperatorRoots = 5;

/// As dimsOf: larger dimensions have no estimate.
constexpr std::int64_t kLargestDim = std::int64_t{1} << 40;

class Builder {
public:
  Builder(const graph::Structure& structure, const std::vector<bool>& inexact, const Convention& convention)
      : graph(structure.graph), inexact(inexact), convention(convention) {
    made.pool = structure.pool;
    one = made.pool.constant(1);
    zero = made.pool.constant(0);
  }

  std::optional<Formulas> build() {
    const bool ranks = std::all_of(graph.tensors.begin(), graph.tensors.end(),
                                   [](const graph::Tensor& tensor) { return tensor.shape.size() <= TBEM_MAX_RANK; });
    if (graph::firstGate(graph) != nullptr || !ranks) return std::nullopt;
    made.roots.assign(kFirstOperator, zero);
    std::vector<graph::TensorId> weights;
    for (const graph::Graph::Weight& weight : graph.weights) weights.push_back(weight.value);
    made.roots[kParameters] = elements(weights);
    made.roots[kBuffers] = elements(graph.buffers);
    countFlops();
    addMemory();
    made.roots[kRegular] = regular();
    return std::move(made);
  }

private:
  ExprId make(ExprOp op, ExprId a, ExprId b = sema::kNoExpr, ExprId c = sema::kNoExpr) { return made.pool.make(op, a, b, c); }
  ExprId times(ExprId a, std::uint64_t factor) {
    return make(ExprOp::Mul, a, made.pool.constant(static_cast<std::int64_t>(factor)));
  }

  ExprId count(graph::TensorId id) {
    ExprId product = one;
    for (const ExprId dim : graph[id].shape) product = make(ExprOp::Mul, product, dim);
    return product;
  }

  /// Sum of expressions, equal ones multiplied.
  using Terms = std::map<ExprId, std::int64_t>;
  ExprId sum(const Terms& terms) {
    ExprId total = zero;
    for (const auto& [term, times] : terms) total = make(ExprOp::Add, total, make(ExprOp::Mul, term, made.pool.constant(times)));
    return total;
  }

  ExprId elements(const std::vector<graph::TensorId>& tensors) {
    Terms terms;
    for (const graph::TensorId tensor : tensors) ++terms[count(tensor)];
    return sum(terms);
  }

  /// What the convention counts of an operator that runs `runs` times.
  void addCounted(const graph::Op& op, std::int64_t runs, Terms& flops) {
    const CountWeights weights = countWeights(convention, graph, op);
    const auto orOne = [&](ExprId factor) { return factor == sema::kNoExpr ? one : factor; };
    for (const graph::FlopPart& part : op.flops)
      flops[make(ExprOp::Mul, part.count, orOne(weights.groups))] += weights.of(part) * runs;
    for (std::size_t k = 0; weights.countsResults() && k < op.outputs.size(); ++k) {
      const ExprId counted = make(ExprOp::Mul, count(op.outputs[k]), orOne(weights.groups));
      flops[counted] += weights.result * runs;
      flops[make(ExprOp::Mul, counted, orOne(weights.window))] += weights.side * runs;
    }
  }

  void countFlops() {
    struct Parts {
      Terms flops, macs;
    };
    std::map<std::string, std::array<Parts, 3>> byOperator;
    for (const graph::OpId id : graph::programOrder(graph)) {
      const graph::Op& op = graph[id];
      if (op.flops.empty()) continue;
      const bool isGradient = op.phase == Phase::Backward && op.forward != graph::kNoOp;
      Parts& parts = byOperator[isGradient ? graph[op.forward].declaration : op.declaration][static_cast<std::size_t>(op.phase)];
      const std::int64_t runs = graph::runsOf(graph, op);
      addCounted(op, runs, parts.flops);
      for (const graph::FlopPart& part : op.flops) {
        if (part.name == "mac") parts.macs[part.count] += runs;
        counts.push_back(part.count);
      }
    }
    for (const auto& [name, phases] : byOperator) {
      std::array<ExprId, 3> flops{}, macs{};
      for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        flops[phase] = sum(phases[phase].flops);
        macs[phase] = times(sum(phases[phase].macs), 2);
      }
      made.operators.push_back(name);
      made.roots.insert(made.roots.end(), {flops[0], flops[1], flops[2], macs[0], macs[1]});
    }
  }

  std::vector<ExprId> storageBytes(const std::vector<Lifespan>& lives) {
    std::vector<ExprId> bytes(lives.size(), zero);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const std::uint32_t storage = index(graph.tensors[t].storage);
      if (!lives[storage].counts()) continue;
      const ExprId own = times(count(static_cast<graph::TensorId>(t)), elementBytes(graph.tensors[t].dtype));
      bytes[storage] = bytes[storage] == zero ? own : make(ExprOp::Max, bytes[storage], own);
    }
    return bytes;
  }

  void addMemory() {
    const StaticOrder order = staticOrder(graph);
    made.order = order.ops;
    const std::vector<ExprId> bytes = storageBytes(order.lives);
    std::array<Terms, kKinds> kinds;
    std::vector<std::vector<std::size_t>> born(order.ops.size() + 1), dies(order.ops.size() + 1);
    for (std::size_t s = 0; s < bytes.size(); ++s) {
      const Lifespan& life = order.lives[s];
      if (life.persistent) {
        ++kinds[static_cast<std::size_t>(life.kind)][bytes[s]];
      } else if (life.used) {
        born[life.first].push_back(s);
        dies[life.last].push_back(s);
      }
    }
    ExprId always = zero;
    for (std::size_t k = 0; k < kKinds; ++k) {
      made.roots[kFirstKind + k] = sum(kinds[k]);
      always = make(ExprOp::Add, always, made.roots[kFirstKind + k]);
    }
    // What comes and goes is a gradient or an activation.
    ExprId live = always, gradients = zero;
    ExprId peak = always, moment = zero, gradientsThere = zero;
    const auto change = [&](ExprOp op, std::size_t s) {
      live = make(op, live, bytes[s]);
      if (order.lives[s].kind == Kind::Gradients) gradients = make(op, gradients, bytes[s]);
    };
    for (std::size_t step = 0; step < order.ops.size(); ++step) {
      for (const std::size_t s : born[step]) change(ExprOp::Add, s);
      // Every storage has bytes: only where something came and, before anything else comes, something goes can be a first highest
      // moment.
      const bool canBeHighest = !born[step].empty() && (!dies[step].empty() || born[step + 1].empty());
      if (canBeHighest) {
        const ExprId higher = make(ExprOp::Less, peak, live);
        moment = make(ExprOp::Select, higher, made.pool.constant(static_cast<std::int64_t>(step)), moment);
        gradientsThere = make(ExprOp::Select, higher, gradients, gradientsThere);
        peak = make(ExprOp::Max, peak, live);
      }
      for (const std::size_t s : dies[step]) change(ExprOp::Sub, s);
    }
    made.roots[kBytes] = peak;
    made.roots[kMoment] = moment;
    const auto kind = [this](Kind k) -> ExprId& { return made.roots[kFirstKind + static_cast<std::size_t>(k)]; };
    kind(Kind::Gradients) = make(ExprOp::Add, kind(Kind::Gradients), gradientsThere);
    kind(Kind::Activations) =
        make(ExprOp::Add, kind(Kind::Activations), make(ExprOp::Sub, make(ExprOp::Sub, peak, always), gradientsThere));
  }

  /// Whether the row is one: conditions hold, dimensions are positive whole numbers of a size that can be, counts are not
  /// negative.
  ExprId regular() {
    ExprId holds = one;
    const auto also = [&](ExprId condition) { holds = make(ExprOp::And, holds, condition); };
    for (const graph::Obligation& obligation : graph.obligations) {
      const std::vector<sema::SymbolId> symbols = made.pool.symbolsOf(obligation.condition);
      const bool apart = std::any_of(symbols.begin(), symbols.end(),
                                     [this](sema::SymbolId symbol) { return inexact[static_cast<std::uint32_t>(symbol)]; });
      if (apart) {
        made.conditions.push_back(obligation.condition);
      } else {
        also(obligation.condition);
      }
    }
    std::vector<ExprId> dims;
    for (const graph::Tensor& tensor : graph.tensors) dims.insert(dims.end(), tensor.shape.begin(), tensor.shape.end());
    ExprId largest = one;
    for (const ExprId dim : distinct(dims)) {
      also(make(ExprOp::LessEqual, one, dim));
      wholeToo(dim, also);
      largest = make(ExprOp::Max, largest, dim);
    }
    also(make(ExprOp::LessEqual, largest, made.pool.constant(kLargestDim)));
    for (const ExprId count : distinct(counts)) {
      also(make(ExprOp::LessEqual, zero, count));
      wholeToo(count, also);
    }
    return holds;
  }

  template <class Also>
  void wholeToo(ExprId id, const Also& also) {
    if (!made.pool.isWhole(id)) also(make(ExprOp::Equal, make(ExprOp::FloorDiv, id, one), id));
  }

  static std::vector<ExprId> distinct(std::vector<ExprId> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  const graph::Graph& graph;
  const std::vector<bool>& inexact;
  const Convention& convention;
  Formulas made;
  std::vector<ExprId> counts;  ///< of parts of FLOPs
  ExprId one{}, zero{};
};

}  // namespace

std::optional<Formulas> formulasOf(const graph::Structure& structure, const std::vector<bool>& inexact,
                                   const Convention& convention) {
  return Builder(structure, inexact, convention).build();
}

std::optional<Estimate> estimateAt(const Formulas& formulas, const graph::Graph& graph, std::span<const double> values) {
  if (values[kRegular] != 1) return std::nullopt;
  const auto bytes = [&](std::size_t root) { return static_cast<std::uint64_t>(values[root]); };
  Estimate estimate;
  estimate.network = graph.network;
  estimate.flops.parameters = static_cast<std::int64_t>(values[kParameters]);
  estimate.flops.buffers = static_cast<std::int64_t>(values[kBuffers]);
  for (std::size_t i = 0; i < formulas.operators.size(); ++i) {
    const std::size_t first = kFirstOperator + i * kOperatorRoots;
    const OperatorCounts counts{bytes(first), bytes(first + 1), bytes(first + 2), bytes(first + 3), bytes(first + 4)};
    if (counts.none()) continue;
    estimate.flops.byOperator.emplace(formulas.operators[i], counts);
    estimate.flops.most.forward += counts.forward;
    estimate.flops.most.backward += counts.backward;
    estimate.flops.most.optimizer += counts.optimizer;
  }
  estimate.flops.least = estimate.flops.most;
  estimate.memory.bytes = estimate.memory.least = bytes(kBytes);
  for (std::size_t k = 0; k < kKinds; ++k) estimate.memory.kinds[k] = bytes(kFirstKind + k);
  if (!formulas.order.empty()) {
    estimate.memory.peak = formulas.order[static_cast<std::size_t>(values[kMoment])];
    estimate.peak = peakAt(graph, graph[estimate.memory.peak]);
  }
  return estimate;
}

}  // namespace tbem::estimate
