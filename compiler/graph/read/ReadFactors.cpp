#include "compiler/graph/read/ReadFactors.h"

#include "compiler/diagnostics/tables/Design.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

void FactorReader::read() {
  const std::size_t errors = e.sink.errorCount();
  readNetworks();
  for (const ast::Factor& factor : design.factors) readFactor(factor);
  for (std::size_t i = 0; i < design.factors.size() && i < spec.factors.size(); ++i)
    readParent(design.factors[i], spec.factors[i].parent, spec.factors[i].parentLevels);
  for (const ast::Input& input : design.inputs) readInput(input);
  if (e.sink.errorCount() == errors) nest();
}

bool FactorReader::mentionsFactor(const ast::Expr& expr) const {
  bool found = false;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    found = found || (name != nullptr && std::any_of(design.factors.begin(), design.factors.end(),
                                                     [&](const auto& one) { return one.name.text == name->name.text; }));
  });
  return found;
}

/// Factors have no values yet: of a call whose arguments name some, what it calls.
const ast::Expr* FactorReader::withoutFactors(const ast::Expr* source) const {
  const auto* call = ast::dynCast<ast::Call>(source);
  return call != nullptr && mentionsFactor(*source) ? call->callee : source;
}

void FactorReader::readNetworks() {
  if (design.of == nullptr) return;
  std::vector<const ast::Expr*> sources{design.of};
  if (const auto* name = ast::dynCast<ast::NameRef>(design.of)) {
    for (const ast::Factor& factor : design.factors) {
      if (factor.name.text == name->name.text) sources = factor.levels;
    }
  }
  for (const ast::Expr* source : sources) {
    const Value found = e.value(*withoutFactors(source));
    if (found.isPoison()) continue;
    const bool callable =
        (found.is(ValueKind::Declaration) || found.is(ValueKind::Partial)) && found.decl->kind == ast::NodeKind::Callable;
    if (!callable) {
      e.fail(diag::unknown_network, source->range, kindName(found));
      continue;
    }
    networks.push_back(static_cast<const ast::Callable*>(found.decl));
    networkModules.push_back(found.module);
  }
}

FactorReader::Declared FactorReader::parameterOf(const std::string& name) const {
  for (std::size_t i = 0; i < networks.size(); ++i) {
    for (const ast::Parameter& parameter : networks[i]->parameters) {
      if (parameter.name.text == name) return {&parameter, e.program.homeOf(networks[i], networkModules[i], name)};
    }
  }
  return {};
}

void FactorReader::addLevel(FactorSpec& factor, Value found, const ast::Expr* expr, const sema::Module* module, SrcRange range) {
  if (found.isPoison()) return;
  Level level;
  if (found.is(ValueKind::Number)) level.number = e.pool.constantValue(found.expr);
  level.text = found.is(ValueKind::String) ? found.text() : sema::print(e.pool, found);
  level.value = std::move(found);
  level.expr = expr;
  level.module = module;
  level.range = range;
  for (const Level& other : factor.levels) {
    if (other.text == level.text && other.value.kind == level.value.kind) {
      e.sink.report(diag::duplicate_level, range, level.text, factor.name).label(other.range, "given here first");
      return;
    }
  }
  const auto family = [](const Value& v) { return v.is(ValueKind::Partial) ? ValueKind::Declaration : v.kind; };
  if (!factor.levels.empty() && family(factor.levels.front().value) != family(level.value)) {
    e.fail(diag::levels_differ_in_kind, range, factor.name, kindName(factor.levels.front().value), kindName(level.value));
    return;
  }
  factor.levels.push_back(std::move(level));
}

void FactorReader::readFactor(const ast::Factor& factor) {
  const std::size_t errorsBefore = e.sink.errorCount();
  FactorSpec result;
  result.name = factor.name.text;
  result.range = factor.name.range;
  if (spec.find(result.name)) e.fail(diag::duplicate_name, factor.name.range, result.name);
  const auto [parameter, home] = parameterOf(result.name);
  result.binds = parameter != nullptr;
  if (parameter != nullptr) {
    const auto* type = ast::dynCast<ast::NamedType>(parameter->type);
    result.isReal = type != nullptr && type->name.text == "real";
  }
  std::vector<const ast::Expr*> sources = factor.levels;
  const bool fromDomain = sources.empty() && parameter != nullptr && parameter->domain != nullptr;
  const sema::Module* const module = fromDomain ? home : spec.module;
  if (fromDomain) {
    const auto* set = ast::dynCast<ast::Set>(parameter->domain);
    sources = set != nullptr ? set->items : std::vector<const ast::Expr*>{parameter->domain};
  }
  for (const ast::Expr* source : sources) {
    const Value found = e.evaluateIn(*module, *source, {});
    const SrcRange range = fromDomain ? factor.name.range : source->range;
    if (found.is(ValueKind::Range)) {
      const auto all = e.elements(found, range);
      if (all)
        for (const Value& one : *all) addLevel(result, one, nullptr, module, range);
    } else {
      addLevel(result, found, source, module, range);
    }
  }
  if (result.levels.empty() && e.sink.errorCount() == errorsBefore) {
    Diagnostic& d = e.sink.report(diag::no_levels, factor.name.range, result.name);
    d.note(parameter != nullptr ? "its parameter has no domain (`in {...}`) to take them from"
                                : "write them: `factor " + result.name + ": 1, 2, 4`");
  }
  for (const Level& level : result.levels) result.isReal = result.isReal || (level.number && !level.number->isInt());
  spec.factors.push_back(std::move(result));
}

/// `under parent = level`, of a factor or an input.
template <class Nested>
void FactorReader::readParent(const Nested& nested, std::optional<std::uint32_t>& place,
                              std::vector<std::uint32_t>& parentLevels) {
  if (nested.parent.empty()) return;
  const auto parent = spec.find(nested.parent.text);
  if (!parent) {
    std::vector<std::string> names;
    for (const FactorSpec& one : spec.factors) names.push_back(one.name);
    Diagnostic& d = e.sink.report(diag::unknown_name, nested.parent.range, nested.parent.text);
    if (const std::string near = nearest(nested.parent.text, names); !near.empty())
      d.note("did you mean `" + near + "`?").fix(nested.parent.range, near);
    return;
  }
  place = parent;
  if (nested.parentLevel == nullptr) return;
  const Value wanted = e.value(*nested.parentLevel);
  const auto& levels = spec.factors[*parent].levels;
  std::string known;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    known += (i == 0 ? "" : ", ") + levels[i].text;
    const sema::ExprId same = e.equal(levels[i].value, wanted);
    if (same != sema::kNoExpr && e.pool.constantValue(same) == Rational::of(1))
      parentLevels.push_back(static_cast<std::uint32_t>(i));
  }
  if (parentLevels.empty() && !wanted.isPoison() && !levels.empty()) {
    e.sink
        .report(diag::design_clause_value, nested.parentLevel->range, "under", "a level of `" + nested.parent.text + "`",
                wanted.is(ValueKind::String) ? "\"" + wanted.text() + "\"" : sema::print(e.pool, wanted))
        .note("its levels are " + known);
  }
}

/// A row has one shape of an input at most.
void FactorReader::readInput(const ast::Input& input) {
  InputSpec made{input.name.text, input.name.range, input.shape, {}, {}, {}};
  readParent(input, made.parent, made.parentLevels);
  for (const InputSpec& other : spec.inputs) {
    const auto alike = [&](std::uint32_t level) {
      return std::find(other.parentLevels.begin(), other.parentLevels.end(), level) != other.parentLevels.end();
    };
    const bool apart =
        made.parent && made.parent == other.parent && std::none_of(made.parentLevels.begin(), made.parentLevels.end(), alike);
    if (other.name != made.name || apart) continue;
    Diagnostic& d = e.sink.report(diag::argument_twice, made.range, made.name).label(other.range, "given here first");
    d.note("two shapes of one input stand `under` different levels of one factor");
    break;
  }
  spec.inputs.push_back(std::move(made));
}

/// Whether going from a factor to its parent, and on, comes back to it.
bool FactorReader::isUnderItself(std::uint32_t factor) const {
  std::optional<std::uint32_t> above = spec.factors[factor].parent;
  for (std::size_t steps = 0; above && steps < spec.factors.size(); ++steps) {
    if (*above == factor) return true;
    above = spec.factors[*above].parent;
  }
  return false;
}

/// Gives nested factors their absence. One that stands under every level of its parent exists where that does.
void FactorReader::nest() {
  for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
    if (!isUnderItself(f)) continue;
    const ast::Factor& written = design.factors[f];
    e.sink.report(diag::nesting_cyclic, written.parent.range, written.name.text);
    return;
  }
  for (bool again = true; again;) {
    again = false;
    for (FactorSpec& factor : spec.factors) {
      if (!factor.parent || factor.parentLevels.size() < spec.factors[*factor.parent].levels.size()) continue;
      const FactorSpec& above = spec.factors[*factor.parent];
      factor.parentLevels = above.parentLevels;
      factor.parent = above.parent;
      again = true;
    }
  }
  for (FactorSpec& factor : spec.factors) {
    if (!factor.parent) continue;
    Level none;
    none.value = Value::none();
    none.text = "-";
    none.range = factor.range;
    none.absent = true;
    factor.levels.push_back(std::move(none));
  }
}

}  // namespace tbem::graph
