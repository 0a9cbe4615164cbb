// tbemc design: the rows of each design, and what is known of its array.
#include "compiler/design/Checks.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Reports.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <cmath>

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

void printDesignJson(const DesignRun& run, const design::Checks& known) {
  Json rows = Json::array();
  for (const std::size_t row : run.chosen) rows.push_back(run.levels(row));
  Json aliases = Json::array();
  for (const design::Alias& alias : known.aliases) aliases.push_back(alias.text);
  Json dependences = Json::array();
  for (const design::Dependence& dependence : known.dependences) dependences.push_back(dependence.text);
  Json counts = Json::object();
  for (std::size_t f = 0; f < known.levelCounts.size(); ++f) counts[run.spec.factors[f].name] = known.levelCounts[f];
  Json words = Json::array();
  for (const Rational& length : known.wordLengths) words.push_back(length.str());
  Json checks = {{"strength", known.strength},
                 {"level_counts", counts},
                 {"duplicate_rows", known.duplicateRows},
                 {"pairs_covered", known.pairs.covered},
                 {"pairs", known.pairs.total},
                 {"word_lengths", words},
                 {"aliases", aliases},
                 {"dependences", dependences}};
  if (known.mainEffects) {
    checks["main_effects_rank"] = known.mainEffects->rank;
    checks["main_effects_parameters"] = known.mainEffects->parameters;
    checks["condition"] = std::isfinite(known.mainEffects->condition) ? Json(known.mainEffects->condition) : Json();
  }
  printJson("design", {{"design", run.spec.name},
                       {"array", run.array.name},
                       {"construction", run.array.construction},
                       {"runs", run.chosen.size()},
                       {"smallest_possible", run.array.smallestPossible == 0 ? Json() : Json(run.array.smallestPossible)},
                       {"smallest_by", run.array.smallestBy},
                       {"strength", known.strength},
                       {"rows", rows},
                       {"checks", checks}});
}

void printDesignText(const DesignRun& run, const design::Checks& known, const Options& options) {
  report::Table table;
  table.title = fmt::format("design {}: {}, {} rows", run.spec.name, run.array.name, run.chosen.size());
  table.columns.push_back({"row"});
  for (const std::string& name : namesOf(run)) table.columns.push_back({name});
  for (const std::size_t row : run.chosen) {
    std::vector<report::Cell> cells = {std::to_string(row + 1)};
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
      cells.emplace_back(run.spec.factors[f].levels[run.rows[row][f]].text);
    table.add(std::move(cells));
  }
  printTable(options, table);
  if (run.spec.factors.empty()) return;
  if (!run.array.construction.empty()) fmt::print("construction: {}\n", run.array.construction);
  if (run.array.smallestPossible != 0 && run.array.runs <= run.array.smallestPossible) {
    fmt::print("rows: the fewest possible ({})\n", run.array.smallestBy);
  } else if (run.array.smallestPossible != 0) {
    fmt::print("rows: at least {} are needed ({})\n", run.array.smallestPossible, run.array.smallestBy);
  }
  fmt::print("counted: strength {}", known.strength);
  if (known.mainEffects) fmt::print(", main effects of rank {} of {}", known.mainEffects->rank, known.mainEffects->parameters);
  if (known.pairs.total != 0) fmt::print(", {} of {} pairs of levels", known.pairs.covered, known.pairs.total);
  if (known.duplicateRows != 0) fmt::print(", {} duplicate rows", known.duplicateRows);
  fmt::print("\n");
  for (const design::Alias& alias : known.aliases) fmt::print("note: {}\n", alias.text);
  for (const design::Dependence& dependence : known.dependences) fmt::print("note: {}\n", dependence.text);
}

}  // namespace

void printDesigns(const State& state) {
  for (const auto& run : state.designs.runs) {
    if (state.options.csv) {
      printCsv(*run);
      continue;
    }
    const design::Checks known = design::checkArray(run->factors(), run->array);
    if (state.options.json) {
      printDesignJson(*run, known);
    } else {
      printDesignText(*run, known, state.options);
    }
  }
}

int runDesign(const Options& options) {
  State state(options);
  if (const Progressed done = runPipeline(state, "design"); !done.proceed) return done.status;
  printDesigns(state);
  return finish(state, kOk);
}

}  // namespace tbem::driver
