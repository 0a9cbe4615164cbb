// tbemc design: the rows of each design, and what is known of its array.
#include "compiler/design/Aliases.h"
#include "compiler/design/Verify.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/RegressionModel.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {

std::vector<std::string> namesOf(const DesignRun& run) {
  std::vector<std::string> names;
  for (const graph::FactorSpec& factor : run.spec.factors) names.push_back(factor.name);
  return names;
}

/// A field of CSV, quoted where it must be (RFC 4180).
std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void printCsv(const DesignRun& run) {
  std::string line;
  for (const std::string& name : namesOf(run)) line += (line.empty() ? "" : ",") + csvField(name);
  fmt::print("{}\n", line);
  for (const std::size_t row : run.chosen) {
    line.clear();
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
      line += (f == 0 ? "" : ",") + csvField(run.spec.factors[f].levels[run.rows[row][f]].text);
    }
    fmt::print("{}\n", line);
  }
}

/// What is known of the array, found by counting.
struct Known {
  std::uint32_t strength = 0;
  design::MainEffects effects;
  std::vector<design::Alias> aliases;
  std::vector<design::Dependence> dependences;
  std::size_t duplicates = 0;
};

Known analyse(const DesignRun& run) {
  Known known;
  const auto columns = static_cast<std::uint32_t>(run.array.columns());
  known.strength = design::measuredStrength(run.array, std::min<std::uint32_t>(columns, 4));
  known.effects = design::mainEffects(run.array);
  known.aliases = design::mainEffectAliases(run.array, namesOf(run));
  const std::vector<design::Factor> factors = run.factors();
  std::vector<design::Point> points;
  for (std::size_t row = 0; row < run.array.runs; ++row) points.push_back(design::pointOf(factors, run.rows[row]));
  if (!factors.empty()) known.dependences = design::dependences(factors, points);
  known.duplicates = design::duplicateRows(run.array).size();
  return known;
}

void printDesignJson(const DesignRun& run, const Known& known) {
  Json rows = Json::array();
  for (const std::size_t row : run.chosen) rows.push_back(run.levels(row));
  Json aliases = Json::array();
  for (const design::Alias& alias : known.aliases) aliases.push_back(alias.text);
  Json dependences = Json::array();
  for (const design::Dependence& dependence : known.dependences) dependences.push_back(dependence.text);
  printJson("design", {{"design", run.spec.name}, {"array", run.array.name}, {"construction", run.array.construction}, {"runs", run.chosen.size()},
                       {"strength", known.strength}, {"rows", rows},
                       {"checks", {{"strength", known.strength}, {"main_effects_rank", known.effects.rank},
                                   {"main_effects_parameters", known.effects.parameters}, {"condition", known.effects.condition},
                                   {"aliases", aliases}, {"dependences", dependences}, {"duplicate_rows", known.duplicates}}}});
}

void printDesignText(const DesignRun& run, const Known& known, const Options& options) {
  report::Table table;
  table.title = fmt::format("design {}: {}, {} rows", run.spec.name, run.array.name, run.chosen.size());
  table.columns.push_back({"row"});
  for (const std::string& name : namesOf(run)) table.columns.push_back({name});
  for (const std::size_t row : run.chosen) {
    std::vector<report::Cell> cells = {std::to_string(row + 1)};
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f) cells.emplace_back(run.spec.factors[f].levels[run.rows[row][f]].text);
    table.add(std::move(cells));
  }
  printTable(options, table);
  if (run.spec.factors.empty()) return;
  if (!run.array.construction.empty()) fmt::print("construction: {}\n", run.array.construction);
  fmt::print("counted: strength {}, main effects of rank {} of {}\n", known.strength, known.effects.rank, known.effects.parameters);
  for (const design::Alias& alias : known.aliases) fmt::print("note: {}\n", alias.text);
  for (const design::Dependence& dependence : known.dependences) fmt::print("note: {}\n", dependence.text);
}

}  // namespace

int runDesign(const Options& options) {
  State state(options);
  if (const Progressed done = runPipeline(state, "design"); !done.proceed) return done.status;
  for (const auto& run : state.designs.runs) {
    if (options.csv) {
      printCsv(*run);
      continue;
    }
    const Known known = analyse(*run);
    if (options.json) {
      printDesignJson(*run, known);
    } else {
      printDesignText(*run, known, options);
    }
  }
  return finish(state, kOk);
}

}  // namespace tbem::driver
