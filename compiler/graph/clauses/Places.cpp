#include "compiler/graph/clauses/Places.h"

#include "compiler/diagnostics/tables/Graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tbem::graph {

namespace {

bool isPlace(const ast::Expr& expr) {
  if (expr.kind == ast::NodeKind::NameRef) return true;
  if (const auto* member = ast::dynCast<ast::Member>(&expr)) return isPlace(*member->object);
  const auto* at = ast::dynCast<ast::Index>(&expr);
  if (at == nullptr) return false;
  const bool numbers =
      std::all_of(at->items.begin(), at->items.end(), [](const auto& item) { return item->kind == ast::NodeKind::Number; });
  return numbers && at->items.size() == 1 && isPlace(*at->object);
}

/// What a network has of a kind of places.
struct Places {
  std::vector<std::string> paths;
  std::string_view none;        ///< said where there are none
  std::string_view ofOperator;  ///< said where an operator's name stands for one
};

/// Once for each place of the program.
void reportUnmet(DiagnosticSink& sink, const Graph& graph, SrcRange range, const std::string& place, const Places& has) {
  if (sink.find([&](const Diagnostic& one) { return one.kind == diag::mutation_unmet && one.range == range; }) != nullptr) return;
  Diagnostic& told = sink.report(diag::mutation_unmet, range, graph.network, place);
  const bool isOperator = std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.declaration == place; });
  if (isOperator) told.note(fmt::format("`{}` is an operator; {}", place, has.ofOperator));
  constexpr std::size_t kShown = 8;
  const std::size_t shown = std::min(has.paths.size(), kShown);
  const std::string some =
      fmt::format("`{}`", fmt::join(has.paths.begin(), has.paths.begin() + static_cast<std::ptrdiff_t>(shown), "`, `"));
  told.note(shown == 0 ? std::string(has.none)
                       : fmt::format("its places are {}{}", some, has.paths.size() > shown ? " ..." : ""));
}

}  // namespace

std::optional<std::string> placeText(const Session& session, const ast::Expr& expr) {
  if (!isPlace(expr)) return std::nullopt;
  std::string text(session.sources.text(expr.range));
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return c <= ' '; }), text.end());
  return text;
}

bool placesAreThere(DiagnosticSink& sink, const Graph& graph, const CheckpointSpec& spec) {
  const std::string unmet = scopesOf(graph, spec).unmet;
  if (unmet.empty()) return true;
  Places blocks{{}, "the network applies no blocks", "what is computed again is a block"};
  for (std::size_t s = 1; s < graph.scopes.size(); ++s) blocks.paths.push_back(graph.scopes[s].path);
  reportUnmet(sink, graph, spec.range, unmet, blocks);
  return false;
}

std::optional<std::vector<std::uint32_t>> groupOfEach(DiagnosticSink& sink, const Graph& graph, const ParameterGroups& groups) {
  WeightChoice choice = chooseWeights(graph, groups);
  if (choice.unmet != nullptr) {
    Places weights{{}, "the network has no weights", "weights are named by their paths"};
    for (const Graph::Weight& weight : graph.weights) weights.paths.push_back(graph[graph[weight.value].storage].path);
    reportUnmet(sink, graph, choice.unmet->range, choice.unmet->text, weights);
    return std::nullopt;
  }
  if (choice.again != nullptr) {
    const bool isTurn = std::ranges::any_of(groups.groups, [&](const ParameterGroup& group) {
      return group.elsewhere &&
             std::ranges::any_of(group.places, [&](const WeightPlace& place) { return &place == choice.again; });
    });
    sink.report(diag::design_clause_value, choice.again->range, isTurn ? "turn" : "on",
                "weights that no other clause `optimizer` or `turn` has", "`" + choice.weight + "`, which one before it has");
    return std::nullopt;
  }
  return std::move(choice.of);
}

}  // namespace tbem::graph
