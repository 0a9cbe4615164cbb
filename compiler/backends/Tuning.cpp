#include "compiler/backends/Tuning.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/support/Rational.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

constexpr std::string_view kWants = "`on`, `off` or `within(percent: 10)`";

std::optional<Tuning> within(std::string_view number) {
  const std::optional<Rational> value = Rational::parse(std::string(number));
  if (!value || value->num < 0 || value->toDouble() > 1000) return std::nullopt;
  return Tuning{Tuning::Kind::Within, value->toDouble()};
}

std::optional<Tuning> ofExpr(const ast::Expr* expr) {
  if (const auto* word = ast::dynCast<ast::NameRef>(expr)) {
    if (word->name.text == "off") return Tuning{};
    if (word->name.text == "on") return Tuning{Tuning::Kind::On};
    return std::nullopt;
  }
  const auto* call = ast::dynCast<ast::Call>(expr);
  const auto* callee = call == nullptr ? nullptr : ast::dynCast<ast::NameRef>(call->callee);
  if (callee == nullptr || callee->name.text != "within" || call->arguments.size() != 1) return std::nullopt;
  const ast::Argument& argument = call->arguments.front();
  const auto* number = argument.value == nullptr ? nullptr : ast::dynCast<ast::Number>(argument.value);
  if (number == nullptr || argument.name.text != "percent") return std::nullopt;
  return within(number->text);
}

}  // namespace

std::string text(const Tuning& tuning) {
  switch (tuning.kind) {
    case Tuning::Kind::Off:
      return "off";
    case Tuning::Kind::On:
      return "on";
    case Tuning::Kind::Within:
      return fmt::format("within {:g} %", tuning.percent);
  }
  return {};
}

std::optional<Tuning> parseTuning(std::string_view text) {
  if (text == "off") return Tuning{};
  if (text == "on") return Tuning{Tuning::Kind::On};
  constexpr std::string_view kWord = "within ";
  if (!text.starts_with(kWord) || !text.ends_with('%')) return std::nullopt;
  text.remove_prefix(kWord.size());
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return within(text);
}

std::optional<Tuning> readTuning(const ast::Clause& clause, DiagnosticSink& sink, const SourceManager& sources) {
  if (clause.items.size() == 1 && clause.items.front().name.empty() && clause.items.front().value != nullptr) {
    if (const auto tuning = ofExpr(clause.items.front().value)) return tuning;
  }
  const SrcRange range = clause.items.size() == 1 ? clause.items.front().range : clause.range;
  sink.report(diag::design_clause_value, range, std::string("tune"), std::string(kWants),
              clause.items.empty() ? std::string("nothing") : std::string(sources.text(range)));
  return std::nullopt;
}

const ast::Clause* tuneClause(const std::vector<ast::Clause>& clauses) {
  const auto found = std::find_if(clauses.begin(), clauses.end(), [](const ast::Clause& one) { return one.word.text == "tune"; });
  return found == clauses.end() ? nullptr : &*found;
}

}  // namespace tbem::driver
