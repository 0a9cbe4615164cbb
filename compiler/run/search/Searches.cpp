#include "compiler/run/search/Searches.h"

#include "compiler/count/GateFlops.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/ir/Branches.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace tbem::driver {

namespace {

struct GateCost {
  double flops = 0;            ///< of an example, all decisions alike: how much more the side with a false condition computes
  std::int64_t decisions = 1;  ///< about an example: more than one of a gate at the places of an image
};

/// By gate, in program order. An exit's other side computes nothing.
std::vector<GateCost> gateCosts(const graph::Row& network, const std::vector<double>& flops, std::int64_t batch) {
  const graph::Graph& graph = network.graph();
  const graph::Branches branches = graph::branchesOf(graph);
  std::vector<GateCost> costs;
  for (std::uint32_t id = 0; id < graph.ops.size(); ++id) {
    const graph::OpKind kind = graph.ops[id].kind;
    if (kind != graph::OpKind::Skip && kind != graph::OpKind::Exit) continue;
    const std::int64_t decisions = network.shape(graph.ops[id].inputs.front()).front() / batch;
    const double one = flops[branches.whereFalse[id]] - flops[branches.whereTrue[id]];
    costs.push_back({one * static_cast<double>(decisions), decisions});
  }
  return costs;
}

}  // namespace

void takeFlops(perturb::Victim& victim, const graph::Row& row, std::int64_t batch) {
  const auto flops = estimate::countFlops(row.graph(), row.values);
  victim.branchFlops = estimate::branchFlopsOfSample(*flops, batch);
  victim.least = estimate::toDouble(flops->least.forward) / static_cast<double>(batch);
  victim.most = estimate::toDouble(flops->most.forward) / static_cast<double>(batch);
}

bool weighGates(std::span<DesignRun* const> searches, const graph::Row& network, std::int64_t batch) {
  const auto flops = estimate::countFlops(network.graph(), network.values);
  if (!flops || !flops->gated) return false;
  const std::vector<GateCost> costs = gateCosts(network, estimate::branchFlopsOfSample(*flops, batch), batch);
  double all = 0;
  for (const GateCost& cost : costs) all += std::abs(cost.flops);
  constexpr std::int64_t kParts = 1'000'000;
  for (DesignRun* search : searches) {
    if (search == nullptr) continue;
    std::vector<Rational>& shares = search->spec.search->shares;
    shares.clear();
    for (const GateCost& cost : costs) {
      const Rational whole = all > 0 ? Rational{std::llround(cost.flops / all * kParts), kParts} : Rational{1};
      shares.push_back(cost.decisions == 1 ? whole
                                           : *Rational::make(whole.num, static_cast<__int128>(whole.den) * cost.decisions));
    }
  }
  return true;
}

void reportNoGates(DiagnosticSink& sink, SrcRange at, const graph::Row& network, std::int64_t batch) {
  Diagnostic& d = sink.report(diag::nothing_to_slow, at, network.graph().network);
  const auto flops = estimate::countFlops(network.graph(), network.values);
  if (flops)
    d.note(fmt::format("it has no gates: every input takes {}, so that I-FLOPs are 0 whatever the input is",
                       report::flops(estimate::toDouble(flops->most.forward) / static_cast<double>(batch))));
}

perturb::Method methodOf(const graph::MethodSpec& spec, const std::string& input, const runtime::Executable* mover) {
  perturb::Method method;
  method.word = spec.word;
  method.text = spec.text;
  method.mover = mover;
  const graph::SearchSpec& search = spec.search;
  method.seed = input + ".seed";
  const bool looks = search.objective != graph::Objective::None || search.proposes;
  if (!search.generates() && looks) method.point = input;
  method.fromBest = search.proposes;
  if (search.keep.num != 0) method.label = input + ".label";
  for (std::uint32_t i = 0; i < search.states; ++i) method.states.push_back(fmt::format("{}.state[{}]", input, i));
  method.steps = spec.steps;
  method.look = spec.look;
  return method;
}

std::optional<perturb::Learning> learningOf(const graph::MethodSpec& spec, const std::string& input, std::int64_t train) {
  if (spec.epochs == 0) return std::nullopt;
  perturb::Learning learning;
  learning.seed = input + ".seed";
  learning.epochs = spec.epochs;
  learning.count = spec.examples.value_or(train);
  return learning;
}

}  // namespace tbem::driver
