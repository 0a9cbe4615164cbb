#include "compiler/graph/perturb/ReadDefences.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/perturb/ReadMethod.h"

#include <map>

namespace tbem::graph {

namespace {

constexpr Rational kLeastCost{1, 1'000'000}, kMostCost{1'000'000};
constexpr std::int64_t kMostBits = 16, kWidestWindow = 31;  // f32 tells no more levels apart; images are rarely as wide

void readArgument(ClauseReader& e, const ast::Argument& given, DetectSpec& into) {
  const std::string& name = given.name.text;
  if (given.value != nullptr && name == "folds") {
    into.folds = e.whole(name, *given.value, 2).value_or(into.folds);
  } else if (given.value != nullptr && name == "examples") {
    into.examples = e.whole(name, *given.value, 2);
  } else if (given.value != nullptr && name == "cost") {
    const sema::Value value = e.value(*given.value);
    const auto cost = e.numberOf(value);
    if (cost && compare(*cost, kLeastCost) >= 0 && compare(*cost, kMostCost) <= 0)
      into.cost = cost->toDouble();
    else if (!value.isPoison())
      e.fail(diag::design_clause_value, given.range, name, "a number from 1e-6 to 1e6", e.text(*given.value));
  } else if (name.empty()) {
    e.fail(diag::design_clause_value, given.range, "svm", "arguments with their names: `folds`, `cost` and `examples`",
           e.text(given.range));
  } else {
    e.sink.report(diag::unknown_argument, given.range, "svm", name).note("it has: `folds`, `cost`, `examples`");
  }
}

}  // namespace

std::optional<DetectSpec> readDetect(ClauseReader& e, const ast::Clause& clause) {
  const std::size_t errors = e.sink.errorCount();
  DetectSpec detect;
  detect.range = clause.word.range;
  if (clause.items.empty()) return detect;
  const ast::Argument& item = clause.items.front();
  const auto [name, call] = calledWord(item.name.empty() ? item.value : nullptr);
  if (clause.items.size() > 1 || name != "svm") {
    e.fail(diag::design_clause_value, item.range, "detect", "nothing, or `svm(folds: 5)`",
           "`" + e.text(SrcRange{item.range.begin, clause.items.back().range.end}) + "`");
    return std::nullopt;
  }
  std::map<std::string, SrcRange> seen;
  for (const ast::Argument& given : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
    const auto [first, fresh] = seen.emplace(given.name.text, given.range);
    if (fresh || given.name.empty())
      readArgument(e, given, detect);
    else
      e.sink.report(diag::argument_twice, given.range, given.name.text).label(first->second, "given here first");
  }
  if (detect.examples && *detect.examples < detect.folds)
    e.fail(diag::design_clause_value, item.range, "examples", fmt::format("at least one for each of {} folds", detect.folds),
           std::to_string(*detect.examples));
  return e.sink.errorCount() == errors ? std::optional(detect) : std::nullopt;
}

std::vector<SqueezeSpec> readSqueeze(ClauseReader& e, const ast::Clause& clause) {
  std::vector<SqueezeSpec> all;
  for (const ast::Argument& item : clause.items) {
    const auto [name, call] = calledWord(item.name.empty() ? item.value : nullptr);
    const bool one = call != nullptr && call->arguments.size() == 1 && call->arguments.front().name.empty() &&
                     call->arguments.front().value != nullptr;
    if (!one || (name != "bits" && name != "median")) {
      e.fail(diag::design_clause_value, item.range, "squeeze", "`bits(4)` and `median(2)`", "`" + e.text(item.range) + "`");
      continue;
    }
    SqueezeSpec squeezer;
    squeezer.kind = name == "bits" ? SqueezeSpec::Kind::Bits : SqueezeSpec::Kind::Median;
    squeezer.text = e.text(item.range);
    squeezer.range = item.range;
    const std::int64_t least = name == "bits" ? 1 : 2, most = name == "bits" ? kMostBits : kWidestWindow;
    const auto size = e.whole(name, *call->arguments.front().value, least);
    if (!size) continue;
    squeezer.size = *size;
    if (*size <= most)
      all.push_back(std::move(squeezer));
    else
      e.fail(diag::design_clause_value, item.range, name, fmt::format("a whole number from {} to {}", least, most),
             std::to_string(*size));
  }
  if (clause.items.empty())
    e.fail(diag::design_clause_value, clause.word.range, "squeeze", "`bits(4)` and `median(2)`", "nothing");
  return all;
}

}  // namespace tbem::graph
