#include "compiler/lower/recompute/Recompute.h"

#include "compiler/count/Schedule.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/lower/recompute/RecomputeChoice.h"

#include <algorithm>
#include <map>

namespace tbem::estimate {

using graph::index;

namespace {

constexpr int kTries = 10;           ///< choices that are lowered to come close to a limit from below
constexpr std::size_t kLowest = 4;   ///< choices that are lowered to find the lowest arena
constexpr std::uint64_t kNear = 64;  ///< an arena within 1/64 below its limit is near enough

/// Lowers choices, and remembers the best.
class Trial {
public:
  Trial(const graph::Graph& g, const sema::Values& v, const tbem_backend& b, const LowerOptions& o)
      : graph(g), values(v), backend(b), options(o) {}

  /// The arena of this choice; nothing after an error.
  std::optional<std::uint64_t> lowered(const std::vector<bool>& keep, Checkpointed& out) {
    out.graph = graph::recompute(graph, keep);
    auto program = lower(out.graph, values, backend, options);
    if (!program) {
      error = program.error();
      return std::nullopt;
    }
    out.program = std::move(*program);
    return out.program.arena;
  }

  std::optional<LowerError> error;

private:
  const graph::Graph& graph;
  const sema::Values& values;
  const tbem_backend& backend;
  const LowerOptions& options;
};

/// FLOPs of each operator of the graph.
tl::expected<std::vector<double>, LowerError> flopsOf(const graph::Graph& graph, const sema::Values& values) {
  std::vector<double> flops(graph.ops.size());
  for (std::uint32_t i = 0; i < flops.size(); ++i) {
    const auto id = static_cast<graph::OpId>(i);
    const auto own = countFlops(graph, values, std::span(&id, 1));
    if (!own) return tl::unexpected(LowerError{diag::row_without_number, own.error().range, {own.error().what}});
    flops[i] = toDouble(*own);
  }
  return flops;
}

double repeatedFlops(const graph::Graph& graph, const std::vector<double>& flops) {
  double sum = 0;
  for (const graph::Op& op : graph.ops) sum += op.repeats ? flops[index(op.forward)] : 0;
  return sum;
}

/// Comes close to the limit from below: each choice is lowered, and says by how much the model was wrong.
bool belowLimit(RecomputeModel& model, Trial& trial, const std::vector<double>& flops, std::uint64_t limit, Checkpointed& best) {
  const std::uint64_t whole = model.cost(model.which().saved, 0).peak;
  const auto offset = static_cast<std::int64_t>(best.program.arena) - static_cast<std::int64_t>(whole);
  std::int64_t aim = static_cast<std::int64_t>(limit) - offset;
  std::int64_t tooHigh = static_cast<std::int64_t>(whole), fitting = 0;
  double least = 0;
  bool found = false;
  std::vector<bool> before;
  for (int i = 0; i < kTries && aim > 0; ++i) {
    const auto keep = chooseBelow(model, static_cast<std::uint64_t>(aim));
    if (!keep) {
      if (found) break;
      return false;
    }
    if (*keep == before) break;
    before = *keep;
    Checkpointed one;
    const auto arena = trial.lowered(*keep, one);
    if (!arena) return false;
    if (*arena > limit) {
      tooHigh = std::min(tooHigh, aim);
      aim = found ? (fitting + tooHigh) / 2 : aim - std::max<std::int64_t>(static_cast<std::int64_t>(*arena - limit), aim / 100);
      continue;
    }
    const double cost = repeatedFlops(one.graph, flops);
    if (!found || cost < least) {
      best = std::move(one);
      least = cost;
    }
    found = true;
    fitting = std::max(fitting, aim);
    if (limit - *arena <= limit / kNear) break;
    const std::int64_t up = aim + static_cast<std::int64_t>(limit - *arena);
    aim = up < tooHigh ? up : (fitting + tooHigh) / 2;
  }
  return found;
}

/// The lowest arena that is found.
bool lowest(RecomputeModel& model, Trial& trial, Checkpointed& best) {
  const std::vector<std::vector<bool>> choices = chooseLower(model);
  for (std::size_t i = choices.size() - std::min(choices.size(), kLowest); i < choices.size(); ++i) {
    Checkpointed one;
    const auto arena = trial.lowered(choices[i], one);
    if (!arena) return false;
    if (*arena < best.program.arena) best = std::move(one);
  }
  return true;
}

void describe(const graph::Graph& graph, const sema::Values& values, Checkpointed& made) {
  std::map<std::uint32_t, RecomputedBlock> blocks;  // by scope, which are numbered in the order of the forward pass
  for (const graph::OpId id : graph::programOrder(made.graph)) {
    const graph::Op& op = made.graph[id];
    if (!op.repeats || op.kind == graph::OpKind::View) continue;
    const graph::ScopeId scope = graph::outermost(graph, op.scope);
    RecomputedBlock& block = blocks[index(scope)];
    block.path = graph.scopes.empty() ? "" : graph.scopes[index(scope)].path;
    ++block.count;
    if (std::find(block.operators.begin(), block.operators.end(), op.declaration) == block.operators.end())
      block.operators.push_back(op.declaration);
    const auto flops = countFlops(made.graph, values, std::span(&id, 1));
    if (flops) block.flops += *flops;
  }
  Recomputation& report = made.report;
  for (auto& [scope, block] : blocks) {
    report.flops += block.flops;
    report.blocks.push_back(std::move(block));
  }
  report.arena = made.program.arena;
}

}  // namespace

tl::expected<Checkpointed, LowerError> lowerCheckpointed(const graph::Graph& graph, const sema::Values& values,
                                                         const tbem_backend& backend, const LowerOptions& options,
                                                         const graph::CheckpointSpec& spec) {
  using Kind = graph::CheckpointSpec::Kind;
  auto flops = flopsOf(graph, values);
  if (!flops) return tl::unexpected(flops.error());
  auto whole = lower(graph, values, backend, options);
  if (!whole) return tl::unexpected(whole.error());
  Checkpointed made{graph, std::move(*whole), {}};
  made.report.limit = spec.under;
  made.report.arenaKept = made.program.arena;
  for (const double one : *flops) made.report.step += static_cast<Count>(one);
  const Recomputation report = made.report;
  Trial trial(graph, values, backend, options);
  bool fits = true;
  if (spec.kind != Kind::Auto) {
    trial.lowered(graph::keepOutside(graph, graph::scopesOf(graph, spec).scopes), made);
  } else if (!spec.under || made.program.arena > *spec.under) {
    std::vector<graph::TensorId> kept = keptValues(graph, options);
    const auto order = schedule(graph, kept);
    if (!order) return tl::unexpected(LowerError{diag::value_overwritten, {}, {"", ""}});
    RecomputeModel model(graph, made.program, *order, kept, *flops);
    fits = spec.under && belowLimit(model, trial, *flops, *spec.under, made);
    if (!fits && !trial.error) {
      lowest(model, trial, made);
      fits = !spec.under || made.program.arena <= *spec.under;
    }
  }
  if (trial.error) return tl::unexpected(*trial.error);
  made.report = report;
  made.report.fits = fits;
  describe(graph, values, made);
  return made;
}

}  // namespace tbem::estimate
