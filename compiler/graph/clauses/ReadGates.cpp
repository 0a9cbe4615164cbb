#include "compiler/graph/clauses/ReadGates.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"

#include <algorithm>
#include <set>
#include <string>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

/// `gumbel`, or `gumbel(temperature: 0.5)`.
void readGumbel(ClauseReader& reader, const ast::Call* call, GateTraining& into) {
  into.mode = GateTraining::Mode::Gumbel;
  if (call == nullptr || call->arguments.empty()) return;
  const ast::Argument& given = call->arguments.front();
  const bool isOne =
      call->arguments.size() == 1 && given.value != nullptr && (given.name.empty() || given.name.text == "temperature");
  const Value value = isOne ? reader.value(*given.value) : Value{};
  const auto temperature = reader.numberOf(value);
  if (temperature && temperature->num > 0)
    into.temperature = *temperature;
  else if (!isOne || !value.isPoison())
    reader.fail(diag::design_clause_value, call->range, "gumbel", "a temperature above 0, such as `gumbel(temperature: 0.5)`",
                "`" + reader.text(*call) + "`");
}

/// `likeliest`.
void readBaseline(ClauseReader& reader, const ast::Argument& given, GateTraining& into) {
  const auto* word = ast::dynCast<ast::NameRef>(given.value);
  into.isSelfCritical = word != nullptr && word->name.text == "likeliest";
  if (!into.isSelfCritical)
    reader.fail(diag::design_clause_value, given.range, "reinforce", "`baseline: likeliest`, or none",
                "`" + reader.text(*given.value) + "`");
}

/// `reinforce(reward: blocks_saved(alpha: 0.1), weight: 0.01, baseline: likeliest)`
void readReinforce(ClauseReader& reader, const ast::Expr& expr, GateTraining& into) {
  into.mode = GateTraining::Mode::Reinforce;
  const auto* call = ast::dynCast<ast::Call>(&expr);
  std::set<std::string> names;
  for (const ast::Argument& given : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
    const std::string& name = given.name.text;
    const bool isAgain = !name.empty() && !names.insert(name).second;
    if (isAgain) {
      reader.fail(diag::argument_twice, given.range, name);
    } else if (given.value != nullptr && name == "reward") {
      into.reward = given.value;
    } else if (given.value != nullptr && name == "baseline") {
      readBaseline(reader, given, into);
    } else if (given.value != nullptr && name == "weight") {
      const Value value = reader.value(*given.value);
      const auto weight = reader.numberOf(value);
      if (weight && weight->num > 0)
        into.weight = *weight;
      else if (!value.isPoison())
        reader.fail(diag::design_clause_value, given.range, "reinforce", "a weight above 0",
                    "`" + reader.text(*given.value) + "`");
    } else {
      reader.fail(diag::design_clause_value, given.range, "reinforce", "`reward: r()`, `weight: 0.01` and `baseline: likeliest`",
                  "`" + reader.text(given.range) + "`");
    }
  }
  if (into.reward == nullptr)
    reader.fail(diag::design_clause_value, expr.range, "reinforce", "an operator as reward, such as `reinforce(reward: r())`",
                "none");
}

}  // namespace

void readGateMode(ClauseReader& reader, const ast::Expr& expr, GateTraining& into) {
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : &expr);
  const std::string name = word != nullptr ? word->name.text : "";
  if (name == "gumbel")
    readGumbel(reader, call, into);
  else if (name == "reinforce")
    readReinforce(reader, expr, into);
  else if (name == "soft" && call == nullptr)
    into.mode = GateTraining::Mode::Soft;
  else if (name != "straight_through" || call != nullptr)
    reader.fail(diag::design_clause_value, expr.range, "gates", kGateModes, "`" + reader.text(expr) + "`");
}

void readExitWeights(ClauseReader& reader, const ast::Expr& expr, GateTraining& into) {
  const Value list = reader.value(expr);
  if (list.isPoison()) return;
  into.exitsRange = expr.range;
  bool good = list.is(ValueKind::List) && !list.items.empty();
  for (const Value& item : list.items) {
    const auto number = reader.numberOf(item);
    good = good && number && number->num >= 0;
    if (good) into.exits.push_back(*number);
  }
  good = good && std::any_of(into.exits.begin(), into.exits.end(), [](const Rational& weight) { return weight.num > 0; });
  if (good) return;
  into.exits.clear();
  reader.fail(diag::design_clause_value, expr.range, "exits", "a list of numbers from 0, such as `[0.5, 1]`, with one above it",
              sema::print(reader.pool, list));
}

}  // namespace tbem::graph
