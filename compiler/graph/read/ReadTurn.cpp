#include "compiler/graph/read/ReadTurn.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/clauses/ReadGroups.h"

#include <map>
#include <string>

namespace tbem::graph {

using sema::Value;

std::optional<TurnSpec> readTurn(ClauseReader& e, const ast::Clause& clause) {
  const std::size_t errors = e.sink.errorCount();
  TurnSpec turn;
  turn.range = clause.range;
  std::map<std::string, SrcRange> seen;
  for (const ast::Argument& item : clause.items) {
    const std::string& name = item.name.text;
    if (item.value == nullptr || item.rest) {
      e.fail(diag::design_clause_value, item.range, "turn", "places, `loss`, `optimizer` and `repeat`",
             "`" + e.text(item.range) + "`");
      continue;
    }
    if (name.empty()) {
      readPlaces(e, "turn", *item.value, turn.places);
      continue;
    }
    const auto [first, isFresh] = seen.emplace(name, item.range);
    if (!isFresh) {
      e.sink.report(diag::argument_twice, item.range, name).label(first->second, "given here first");
    } else if (name == "loss") {
      turn.loss = item.value;
      turn.lossText = sema::print(e.pool, e.value(*item.value));
    } else if (name == "optimizer") {
      const Value optimizer = e.value(*item.value);
      turn.optimizer = item.value;
      turn.optimizerText = sema::print(e.pool, optimizer);
      turn.rate = rateOf(e, optimizer);
    } else if (name == "repeat") {
      turn.repeat = e.whole("repeat", *item.value, 1).value_or(1);
    } else {
      e.fail(diag::unknown_argument, item.range, "turn", name);
    }
  }
  if (turn.places.empty() && e.sink.errorCount() == errors)
    e.fail(diag::design_clause_value, clause.range, "turn", "the weights that learn in it, such as `turn discriminator`", "none");
  return e.sink.errorCount() == errors ? std::optional<TurnSpec>(std::move(turn)) : std::nullopt;
}

}  // namespace tbem::graph
