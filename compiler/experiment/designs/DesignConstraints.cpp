#include "compiler/experiment/designs/DesignConstraints.h"

#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/rows/Implied.h"
#include "compiler/diagnostics/tables/Design.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::driver {

namespace {

/// Combinations that one condition may be tried on.
constexpr std::uint64_t kMostTried = 100'000;

std::vector<std::uint32_t> levelNumbers(const graph::DesignSpec& spec) {
  std::vector<std::uint32_t> levels;
  for (const graph::FactorSpec& factor : spec.factors) levels.push_back(static_cast<std::uint32_t>(factor.levels.size()));
  return levels;
}

/// The next combination of the levels of these factors, the last fastest. False: there is none.
bool advance(std::vector<std::uint32_t>& row, const std::vector<std::uint32_t>& factors,
             const std::vector<std::uint32_t>& levels) {
  for (std::size_t i = factors.size(); i-- > 0;) {
    if (++row[factors[i]] < levels[factors[i]]) return true;
    row[factors[i]] = 0;
  }
  return false;
}

bool names(const graph::RowCondition& condition, const graph::RowCondition& other) {
  return std::includes(condition.factors.begin(), condition.factors.end(), other.factors.begin(), other.factors.end());
}

/// What condition `index` forbids. Combinations that an earlier one forbids by the same factors are not tried: `s > 0 and w mod s
/// = 0` divides by no 0.
std::optional<design::Constraints> tryAll(Workspace& workspace, const graph::DesignSpec& spec, const DesignConstraints& known,
                                          std::size_t index, const ConditionsAtLevels& conditions) {
  const graph::RowCondition& condition = known.conditions[index];
  design::Constraints result{levelNumbers(spec), {}};
  std::uint64_t combinations = 1;
  for (const std::uint32_t f : condition.factors) combinations = std::min(combinations * result.levels[f], kMostTried + 1);
  if (combinations > kMostTried) {
    if (spec.full) return result;  // its rows are tried one by one anyway
    workspace.session.sink.report(diag::where_too_large, condition.expr->range, condition.factors.size(), kMostTried)
        .note("conditions are tried one by one between the outermost `and`s: say it with several of fewer factors");
    return std::nullopt;
  }
  std::vector<const design::Constraints*> earlier;
  for (std::size_t i = 0; i < index; ++i)
    if (!known.parts[i].forbidden.empty() && names(condition, known.conditions[i])) earlier.push_back(&known.parts[i]);
  std::vector<std::uint32_t> row(result.levels.size(), 0);
  do {
    const bool exists =
        std::all_of(condition.factors.begin(), condition.factors.end(), [&](std::uint32_t f) { return spec.active(f, row); });
    if (!exists) continue;
    if (!std::all_of(earlier.begin(), earlier.end(), [&](const auto* part) { return part->allows(row); })) continue;
    const auto good = conditions.holds(condition, row);
    if (!good) return std::nullopt;
    if (*good) continue;
    design::Combination forbidden;
    for (const std::uint32_t f : condition.factors) forbidden.push_back({f, row[f]});
    result.forbidden.push_back(std::move(forbidden));
  } while (advance(row, condition.factors, result.levels));
  return design::simplified(std::move(result));
}

std::vector<design::Nested> nestedIn(const graph::DesignSpec& spec) {
  std::vector<design::Nested> nested;
  for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
    if (spec.factors[f].parent) nested.push_back({f, *spec.factors[f].parent, spec.factors[f].parentLevels});
  }
  return nested;
}

design::Constraints together(const graph::DesignSpec& spec, const std::vector<design::Constraints>& parts) {
  design::Constraints all{levelNumbers(spec), {}, nestedIn(spec)};
  for (const design::Constraints& part : parts)
    all.forbidden.insert(all.forbidden.end(), part.forbidden.begin(), part.forbidden.end());
  return design::simplified(std::move(all));
}

/// Points a diagnostic at the conditions that together exclude these levels.
Diagnostic& blame(Diagnostic& found, const DesignConstraints& known, const std::vector<std::size_t>& guilty) {
  for (std::size_t i = 1; i < guilty.size(); ++i)
    found.label(known.conditions[guilty[i]].expr->range, i + 1 == guilty.size() ? "together with this" : "with this");
  return found;
}

/// Parts that are conditions; behind those stands what nesting forbids.
std::vector<std::size_t> conditionsAmong(const DesignConstraints& known, std::vector<std::size_t> parts) {
  std::erase_if(parts, [&](std::size_t part) { return part >= known.conditions.size(); });
  return parts;
}

/// Reports a level that no row can have.
void reportDead(Workspace& workspace, const graph::DesignSpec& spec, const DesignConstraints& known,
                const design::Literal& dead) {
  const graph::FactorSpec& factor = spec.factors[dead.factor];
  if (factor.levels[dead.level].absent) return;
  const std::vector<std::size_t> guilty = conditionsAmong(known, design::culprits(known.parts, {dead}));
  Diagnostic& found = workspace.session.sink.report(diag::dead_level, known.conditions[guilty.front()].expr->range, factor.name,
                                                    factor.levels[dead.level].text);
  blame(found, known, guilty).label(factor.levels[dead.level].range, "this level");
}

/// Whether every factor that had several levels keeps as many; reports those that do not.
bool keepsChoices(Workspace& workspace, const graph::DesignSpec& spec, const DesignConstraints& known) {
  bool good = true;
  for (const graph::FactorSpec& factor : spec.factors) {
    const auto f = static_cast<std::uint32_t>(&factor - spec.factors.data());
    if (factor.values().size() > 1 || known.all.levels[f] == (design::nestingOf(known.all.nested, f) != nullptr ? 2U : 1U))
      continue;
    workspace.session.sink.report(diag::where_fixes_factor, factor.range, factor.name, factor.levels.front().text)
        .note("the other levels stand in no row (see the warnings)");
    good = false;
  }
  return good;
}

/// The forbidden combinations when these levels are gone and the others have moved up.
design::Constraints withoutLevels(const design::Constraints& from, const std::vector<design::Literal>& dead) {
  design::Constraints to{from.levels, {}};
  for (const design::Literal& one : dead) --to.levels[one.factor];
  for (const design::Combination& combination : from.forbidden) {
    design::Combination moved = combination;
    bool gone = false;
    for (design::Literal& literal : moved) {
      const auto below = std::count_if(dead.begin(), dead.end(), [&](const design::Literal& d) {
        return d.factor == literal.factor && d.level < literal.level;
      });
      gone = gone || std::binary_search(dead.begin(), dead.end(), literal);
      literal.level -= static_cast<std::uint32_t>(below);
    }
    if (!gone) to.forbidden.push_back(std::move(moved));
  }
  return design::simplified(std::move(to));
}

void dropLevels(graph::DesignSpec& spec, const std::vector<design::Literal>& dead) {
  for (std::size_t i = dead.size(); i-- > 0;) {
    auto& levels = spec.factors[dead[i].factor].levels;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(dead[i].level));
    for (graph::FactorSpec& factor : spec.factors) {
      if (factor.parent != dead[i].factor) continue;
      std::erase(factor.parentLevels, dead[i].level);
      for (std::uint32_t& level : factor.parentLevels) level -= level > dead[i].level ? 1 : 0;
    }
  }
  for (graph::InputSpec& input : spec.inputs) {
    for (std::size_t i = dead.size(); i-- > 0;) {
      if (input.parent != dead[i].factor) continue;
      std::erase(input.parentLevels, dead[i].level);
      for (std::uint32_t& level : input.parentLevels) level -= level > dead[i].level ? 1 : 0;
    }
  }
  // One that always exists is nested no more.
  for (graph::FactorSpec& factor : spec.factors) {
    if (!factor.parent || (!factor.levels.empty() && factor.levels.back().absent)) continue;
    factor.parent.reset();
    factor.parentLevels.clear();
  }
}

}  // namespace

ConditionsAtLevels::ConditionsAtLevels(Workspace& workspace, const graph::DesignSpec& spec)
    : workspace(workspace), spec(spec), processes(workspace.session, *workspace.program) {
  outputsExist = [this](const ast::Process& process, const sema::Module& module, const auto& inputs) {
    return processes.holds(process, module, *this->spec.pool, inputs);
  };
}

std::optional<bool> ConditionsAtLevels::holds(const graph::RowCondition& condition, std::span<const std::uint32_t> levels) const {
  return graph::holds(workspace.session, *workspace.program, spec, condition, levels, outputsExist);
}

std::optional<DesignConstraints> readConstraints(Workspace& workspace, graph::DesignSpec& spec) {
  DesignConstraints known;
  const ConditionsAtLevels conditions(workspace, spec);
  known.conditions = graph::rowConditions(spec);
  for (std::size_t i = 0; i < known.conditions.size(); ++i) {
    auto part = tryAll(workspace, spec, known, i, conditions);
    if (!part) return std::nullopt;
    known.parts.push_back(std::move(*part));
  }
  if (const std::vector<design::Nested> nested = nestedIn(spec); !nested.empty()) {
    design::Constraints rules{levelNumbers(spec), design::nestingRules(levelNumbers(spec), nested)};
    known.parts.push_back(design::simplified(std::move(rules)));
  }
  known.all = together(spec, known.parts);
  if (known.conditions.empty() || known.all.empty()) return known;
  design::ValidRows valid(known.all);
  const std::vector<design::Literal> dead = valid.anyRow() ? design::deadLevels(valid) : std::vector<design::Literal>{};
  if (valid.gaveUp()) {
    workspace.session.sink.report(diag::where_too_hard, known.conditions.front().expr->range, design::ValidRows::kMostDecisions)
        .note("conditions that tie fewer factors to each other are easier");
    return std::nullopt;
  }
  if (!valid.anyRow()) {
    const std::vector<std::size_t> guilty = conditionsAmong(known, design::culprits(known.parts, {}));
    blame(workspace.session.sink.report(diag::where_excludes_all, known.conditions[guilty.front()].expr->range), known, guilty);
    return std::nullopt;
  }
  for (const design::Literal& one : dead) reportDead(workspace, spec, known, one);
  dropLevels(spec, dead);
  if (!keepsChoices(workspace, spec, known)) return std::nullopt;
  for (design::Constraints& part : known.parts) part = withoutLevels(part, dead);
  known.all = withoutLevels(known.all, dead);
  known.all.nested = nestedIn(spec);
  return known;
}

}  // namespace tbem::driver
