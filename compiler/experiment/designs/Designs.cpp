#include "compiler/experiment/designs/Designs.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/emit/JsonNumber.h"
#include "compiler/experiment/AtText.h"
#include "compiler/experiment/designs/DesignConstraints.h"
#include "compiler/experiment/designs/DesignFilter.h"
#include "compiler/experiment/designs/DesignRows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace tbem::driver {

std::vector<design::Factor> DesignRun::factors() const {
  std::vector<design::Factor> list;
  for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
    const graph::FactorSpec& factor = spec.factors[f];
    design::Factor one{factor.name, {}, {}, {}};
    if (factor.parent) one.nested = {f, *factor.parent, factor.parentLevels};
    for (const graph::Level& level : factor.values()) {
      if (factor.numeric()) one.values.push_back(level.number->toDouble());
      one.labels.push_back(level.text);
    }
    list.push_back(std::move(one));
  }
  return list;
}

namespace {
/// A level's value as JSON: numbers, truth values and lists as such, networks and optimisers as their text.
Json jsonOf(const sema::ExprPool& pool, const sema::Value& value) {
  using sema::ValueKind;
  if (value.is(ValueKind::List) || value.is(ValueKind::Tuple)) {
    Json list = Json::array();
    for (const sema::Value& item : value.items) list.push_back(jsonOf(pool, item));
    return list;
  }
  const bool simple = value.is(ValueKind::Number) || value.is(ValueKind::Bool);
  const std::optional<Rational> known = simple ? pool.constantValue(value.expr) : std::nullopt;
  if (!known) return value.is(ValueKind::String) ? value.text() : sema::print(pool, value);
  if (value.is(ValueKind::Bool)) return known->num != 0;
  return jsonNumber(*known);
}
}  // namespace

Json DesignRun::levels(std::size_t row) const { return levels(rows[row]); }

Json DesignRun::levels(const LevelIndices& indices) const {
  Json object = Json::object();
  for (std::size_t f = 0; f < spec.factors.size(); ++f) {
    const graph::Level& level = spec.factors[f].levels[indices[f]];
    object[spec.factors[f].name] = level.absent ? Json() : jsonOf(*spec.pool, level.value);
  }
  return object;
}

std::string DesignRun::levelsText(std::size_t row) const {
  std::string text;
  for (std::size_t f = 0; f < spec.factors.size(); ++f) {
    const graph::Level& level = spec.factors[f].levels[rows[row][f]];
    if (!level.absent) text += fmt::format("{}{}={}", text.empty() ? "" : " ", spec.factors[f].name, level.text);
  }
  return text.empty() ? "one row" : text;
}

namespace {

std::vector<std::string> levelNames(const graph::FactorSpec& factor) {
  std::vector<std::string> names;
  for (const graph::Level& level : factor.values()) names.push_back(level.text);
  return names;
}

graph::Level levelAt(const graph::DesignSpec& spec, const graph::FactorSpec& factor, const Rational& number) {
  graph::Level level;
  level.value = sema::Value::number(spec.pool->constant(number), factor.isReal);
  level.text = number.str();
  level.number = number;
  level.range = factor.range;
  return level;
}

/// A level's number as a program writes it: "0.5", "1/2".
std::optional<Rational> levelNumber(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Rational::parse(text);
  const std::optional<Rational> above = Rational::parse(text.substr(0, slash)), below = Rational::parse(text.substr(slash + 1));
  return above && below ? tbem::div(*above, *below) : std::nullopt;
}

/// One more level of a nested factor of numbers: before that of its absence, which moves in the rows. Nothing is built of them
/// yet.
std::optional<std::uint32_t> addNested(DesignRun& run, std::uint32_t position, const std::string& text) {
  graph::FactorSpec& factor = run.spec.factors[position];
  const std::optional<Rational> number = levelNumber(text);
  if (!factor.parent || !factor.numeric() || !number) return std::nullopt;
  const auto count = static_cast<std::uint32_t>(factor.values().size());
  factor.levels.insert(factor.levels.begin() + count, levelAt(run.spec, factor, *number));
  for (LevelIndices& row : run.rows) row[position] += row[position] == count ? 1 : 0;
  return count;
}

/// Nested factors that were not asked for do not exist where their parents say so.
void fillAbsences(const graph::DesignSpec& spec, std::vector<std::optional<std::uint32_t>>& wanted) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      const graph::FactorSpec& factor = spec.factors[f];
      if (!factor.parent || wanted[f] || !wanted[*factor.parent]) continue;
      if (std::binary_search(factor.parentLevels.begin(), factor.parentLevels.end(), *wanted[*factor.parent])) continue;
      wanted[f] = static_cast<std::uint32_t>(factor.levels.size() - 1);
      again = true;
    }
  }
}

/// Applies `--at`: rows that agree with it, or one more row where it gives every factor. Errors: why it cannot.
tl::expected<void, std::string> chooseAt(DesignRun& run, const std::string& at) {
  for (std::size_t i = 0; i < run.rows.size(); ++i) run.chosen.push_back(i);
  // `predict --at` asks for a point of the regression, which is fitted to all rows.
  if (at.empty()) return {};
  const auto pairs = parseAt(at);
  if (!pairs) return tl::unexpected(notLevels(at));
  std::vector<std::optional<std::uint32_t>> wanted(run.spec.factors.size());
  for (const auto& [name, text] : *pairs) {
    const std::optional<std::uint32_t> position = run.spec.find(name);
    if (!position) return tl::unexpected(noFactor(at, run.spec, name));
    graph::FactorSpec& factor = run.spec.factors[*position];
    wanted[*position] = levelOf(run.spec, factor, text);
    if (!wanted[*position]) wanted[*position] = addNested(run, *position, text);
    if (!wanted[*position])
      return tl::unexpected(fmt::format("--at {}: `{}` has the levels {}", at, name, nearestFew(text, levelNames(factor))));
  }
  std::erase_if(run.chosen, [&](std::size_t row) {
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      if (wanted[f] && run.rows[row][f] != *wanted[f]) return true;
    }
    return false;
  });
  if (!run.chosen.empty()) return {};
  fillAbsences(run.spec, wanted);
  LevelIndices levels;
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    if (!wanted[f])
      return tl::unexpected(fmt::format("--at {}: no row of `{}` has these levels; give `{}` too for a row of its own", at,
                                        run.spec.name, run.spec.factors[f].name));
    levels.push_back(*wanted[f]);
  }
  if (const std::optional<std::uint32_t> wrong = run.spec.misplaced(levels)) {
    const graph::FactorSpec& factor = run.spec.factors[*wrong];
    const graph::FactorSpec& parent = run.spec.factors[*factor.parent];
    return tl::unexpected(fmt::format("--at {}: `{}` exists under `{}` = {} only", at, factor.name, parent.name,
                                      parent.levels[factor.parentLevels.front()].text));
  }
  run.rows.push_back(std::move(levels));
  run.chosen.push_back(run.rows.size() - 1);
  return {};
}

/// `screen` takes every combination of levels where there are few: static analysis is cheap, and a grid tells all effects apart.
void takeGrid(graph::DesignSpec& spec, std::uint64_t most) {
  if (spec.full) return;
  std::uint64_t combinations = 1;
  for (const graph::FactorSpec& factor : spec.factors) {
    if (factor.levels.size() > most / combinations) return;
    combinations *= factor.levels.size();
  }
  if (combinations > most) return;
  spec.full = true;
  spec.strengthGiven = false;
  spec.covering.reset();
  spec.rows.reset();
  spec.array.clear();
}

}  // namespace

graph::ExperimentOptions experimentOptions(const Target& target) {
  graph::ExperimentOptions result;
  if (target.dtype == "f64") result.dtype = TBEM_F64;
  if (target.dtype == "f32") result.dtype = TBEM_F32;
  result.recordCalls = target.recordCalls;
  if (target.backend == "pytorch") result.rules = graph::MixedRules::PyTorchCuda;
  if (target.backend == "pytorch-cpu") result.rules = graph::MixedRules::PyTorchCpu;
  if (result.rules != graph::MixedRules::Own && !target.everyUpdate) result.updates = graph::Updates::First;
  return result;
}

std::unique_ptr<graph::Experiment> makeExperiment(Workspace& workspace, const graph::DesignSpec& spec, const Target& target) {
  return std::make_unique<graph::Experiment>(workspace.session, *workspace.program, spec, experimentOptions(target));
}

namespace {
/// What a design's estimates assume: --tune, else the clause of the first `measure` of it that has one. What is wrong with a
/// clause is told where measures are read.
Tuning tuningOf(Workspace& workspace, const DesignRun& run, const Target& target) {
  if (const auto asked = parseTuning(target.tune)) return *asked;
  for (const ast::Measure* measure : workspace.all<ast::Measure>()) {
    const ast::Clause* clause = measure->name.text == run.spec.name ? tuneClause(measure->others) : nullptr;
    DiagnosticSink untold;
    if (clause != nullptr) return readTuning(*clause, untold, workspace.session.sources).value_or(Tuning{});
  }
  return {};
}
}  // namespace

Designs makeDesigns(Workspace& workspace, const Request& request, Events& events) {
  Designs designs;
  bool found = false;
  for (const ast::Design* decl : workspace.all<ast::Design>()) {
    if (!request.rows.design.empty() && decl->name.text != request.rows.design) continue;
    found = true;
    std::optional<graph::DesignSpec> spec = graph::readDesign(workspace.session, *workspace.program, *decl);
    if (!spec) continue;
    if (request.rows.grid) takeGrid(*spec, *request.rows.grid);
    std::optional<DesignConstraints> constraints = readConstraints(workspace, *spec);
    if (!constraints) continue;
    auto run = std::make_unique<DesignRun>(std::move(*spec));
    if (!makeRows(workspace, *run, *constraints, events)) continue;
    if (auto chosen = chooseAt(*run, request.rows.at); !chosen) {
      designs.usage.push_back(std::move(chosen).error());
      continue;
    }
    if (run->spec.hasNetwork()) {
      run->experiment = makeExperiment(workspace, run->spec, request.target);
    }
    if (!filterRows(workspace, *run)) continue;
    run->tuning = tuningOf(workspace, *run, request.target);
    designs.runs.push_back(std::move(run));
  }
  if (!found && !request.rows.design.empty()) {
    std::vector<std::string> names;
    for (const ast::Design* decl : workspace.all<ast::Design>()) names.push_back(decl->name.text);
    designs.usage.push_back(
        fmt::format("--design {}: {}", request.rows.design,
                    names.empty() ? "the program has no design" : "its designs are " + nearestFew(request.rows.design, names)));
  }
  return designs;
}

std::optional<std::uint32_t> levelOf(graph::DesignSpec& spec, graph::FactorSpec& factor, const std::string& text) {
  const std::optional<Rational> number = levelNumber(text);
  for (std::uint32_t i = 0; i < factor.levels.size(); ++i) {
    const graph::Level& level = factor.levels[i];
    if (level.text == text || (number && level.number && *level.number == *number)) return i;
  }
  if (!factor.numeric() || factor.parent || !number) return std::nullopt;
  factor.levels.push_back(levelAt(spec, factor, *number));
  return static_cast<std::uint32_t>(factor.levels.size() - 1);
}

std::optional<graph::Row> elaborateRow(DesignRun& run, std::size_t row) {
  return run.experiment == nullptr ? std::nullopt : run.experiment->row(run.rows[row]);
}

}  // namespace tbem::driver
