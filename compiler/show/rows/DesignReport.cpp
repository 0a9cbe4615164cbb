#include "compiler/show/rows/DesignReport.h"

#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/rows/Implied.h"
#include "compiler/design/verify/Checks.h"
#include "compiler/experiment/designs/DesignFilter.h"
#include "compiler/experiment/designs/DesignRepair.h"
#include "compiler/show/Out.h"
#include "compiler/support/Csv.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tbem::driver {

namespace {

std::vector<std::string> namesOf(const DesignRun& run) {
  std::vector<std::string> names;
  for (const graph::FactorSpec& factor : run.spec.factors) names.push_back(factor.name);
  return names;
}

void printCsv(show::Out& out, const DesignRun& run) {
  const std::vector<std::string> names = namesOf(run);
  out.data(csvLine(names));
  for (const std::size_t row : run.chosen) {
    std::vector<std::optional<std::string>> fields;
    for (std::size_t f = 0; f < names.size(); ++f) {
      const graph::Level& level = run.spec.factors[f].levels[run.rows[row][f]];
      fields.push_back(level.absent ? std::nullopt : std::optional(level.text));
    }
    out.data(csvLine(fields));
  }
}

/// What the constraints leave and exclude, beyond what is said of levels.
struct Excluded {
  std::optional<std::uint64_t> valid;      ///< combinations of all levels; nothing: too many to count
  std::optional<design::Implied> implied;  ///< nothing: too hard to decide for all
};
/// Nothing for a design whose constraints exclude nothing.
std::optional<Excluded> excludedBy(const DesignRun& run) {
  if (run.spec.where.empty() || run.constraints.empty()) return std::nullopt;
  design::ValidRows valid(run.constraints);
  Excluded excluded{design::countValidRows(run.constraints), design::impliedBy(valid)};
  if (valid.gaveUp()) excluded.implied.reset();
  if (run.constraints.nested.empty() || !excluded.implied) return excluded;
  // What nesting excludes by itself is nobody's constraint.
  design::ValidRows nesting({run.constraints.levels, design::nestingRules(run.constraints.levels, run.constraints.nested)});
  const auto isConstraint = [&](const design::Combination& one) {
    const bool absent = std::any_of(one.begin(), one.end(),
                                    [&](const design::Literal& l) { return run.spec.factors[l.factor].levels[l.level].absent; });
    return !absent && nesting.possible(one);
  };
  std::erase_if(excluded.implied->pairs, [&](const auto& one) { return !isConstraint(one); });
  std::erase_if(excluded.implied->triples, [&](const auto& one) { return !isConstraint(one); });
  return excluded;
}

/// "`a` = 1 beside `b` = 2".
std::string combinationText(const DesignRun& run, const design::Combination& combination) {
  std::string text;
  for (const design::Literal& l : combination) {
    const graph::FactorSpec& factor = run.spec.factors[l.factor];
    text += fmt::format("{}`{}` = {}", text.empty() ? "" : " beside ", factor.name, factor.levels[l.level].text);
  }
  return text;
}

void printExcluded(show::Out& out, const DesignRun& run) {
  const std::optional<Excluded> excluded = excludedBy(run);
  if (!excluded) return;
  out.say("constraints: ");
  if (excluded->valid) out.say("{} combinations of all levels can stand, ", *excluded->valid);
  if (!excluded->implied) {
    out.say("which levels they exclude together is too hard to decide\n");
    return;
  }
  const design::Implied& implied = *excluded->implied;
  const auto counted = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  out.say("{} of levels cannot", counted(implied.pairs.size(), "pair"));
  if (implied.triplesCounted) out.say(", and {} more", counted(implied.triples.size(), "triple"));
  const auto& examples = implied.pairs.empty() ? implied.triples : implied.pairs;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, examples.size()); ++i)
    out.say("{}{}", i == 0 ? ": " : "; ", combinationText(run, examples[i]));
  out.say("{}\n", examples.size() > kShown ? "; ..." : "");
}

void printCovering(show::Out& out, const design::Covering& covering) {
  out.say("covered: all {} combinations of {} levels that can stand", covering.covered, covering.strength);
  if (covering.impossible != 0) out.say(" ({} cannot)", covering.impossible);
  if (covering.optimal()) {
    out.say("; optimal: no array has fewer rows ({})\n", covering.boundReason);
  } else {
    out.say("; any array has at least {} rows ({})\n", covering.lowerBound, covering.boundReason);
  }
  if (covering.unsearchedRows != 0)
    out.say(
        "note: the limit of work ended the search for rows after {} of {}; the others were built without one: a longer `within` "
        "may find fewer\n",
        covering.array.runs - covering.unsearchedRows, covering.array.runs);
  if (covering.endedByClock)
    out.say("note: the search was ended by its time; a faster machine may find other rows with the same seed\n");
}

void printDesignJson(show::Out& out, const DesignRun& run, const design::Checks& known) {
  Json rows = Json::array(), numbers = Json::array();
  for (const std::size_t row : run.chosen) {
    rows.push_back(run.levels(row));
    numbers.push_back(row);
  }
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
    checks["condition"] = known.mainEffects->condition;
  }
  Json fields = {{"design", run.spec.name},
                 {"array", run.array.name},
                 {"construction", run.array.construction},
                 {"runs", run.chosen.size()},
                 {"smallest_possible", run.array.smallestPossible == 0 ? Json() : Json(run.array.smallestPossible)},
                 {"smallest_by", run.array.smallestBy},
                 {"strength", known.strength},
                 {"rows", rows},
                 {"row_numbers", numbers},
                 {"checks", checks}};
  if (run.covering) {
    fields["covering"] = {{"strength", run.covering->strength},           {"covered", run.covering->covered},
                          {"impossible", run.covering->impossible},       {"lower_bound", run.covering->lowerBound},
                          {"bound", run.covering->boundReason},           {"optimal", run.covering->optimal()},
                          {"ended_by_clock", run.covering->endedByClock}, {"rows_without_search", run.covering->unsearchedRows}};
  }
  if (run.repaired) {
    const design::Repaired& repaired = *run.repaired;
    fields["repair"] = {{"from", repaired.from},
                        {"from_rows", repaired.fromRows},
                        {"kept", repaired.kept},
                        {"rank", repaired.quality.rank},
                        {"parameters", repaired.quality.parameters},
                        {"d_efficiency", repaired.quality.dEfficiency},
                        {"relative", repaired.relative},
                        {"a_efficiency", repaired.quality.aEfficiency},
                        {"largest_inflation", repaired.quality.inflation},
                        {"triples_covered", repaired.triples ? Json(repaired.triples->covered) : Json()},
                        {"triples", repaired.triples ? Json(repaired.triples->total) : Json()},
                        {"j2", repaired.coincidences ? Json(repaired.coincidences->squares) : Json()},
                        {"j2_least", repaired.coincidences ? Json(repaired.coincidences->least) : Json()},
                        {"max_leverage", repaired.quality.maxLeverage},
                        {"pairs_covered", repaired.pairs.covered},
                        {"pairs", repaired.pairs.total},
                        {"largest_correlation", repaired.correlation}};
  }
  if (run.filtered) fields["filter"] = jsonOf(run, *run.filtered);
  if (const std::optional<Excluded> excluded = excludedBy(run)) {
    fields["constraints"] = {
        {"combinations", excluded->valid ? Json(*excluded->valid) : Json()},
        {"pairs_excluded", excluded->implied ? Json(excluded->implied->pairs.size()) : Json()},
        {"triples_excluded",
         excluded->implied && excluded->implied->triplesCounted ? Json(excluded->implied->triples.size()) : Json()}};
  }
  out.json("design", fields);
}

/// Rows that are no orthogonal array alias nearly everything a little: of theirs the strong ones.
void printAliases(show::Out& out, const DesignRun& run, const design::Checks& known) {
  constexpr double kStrong = 0.5;
  std::size_t weak = 0;
  for (const design::Alias& alias : known.aliases) {
    if (run.array.strength > 0 || alias.share >= kStrong) {
      out.say("note: {}\n", alias.text);
    } else {
      ++weak;
    }
  }
  if (weak != 0) out.say("note: {} more aliases, each to less than {:.0f} % (--json has them)\n", weak, 100 * kStrong);
}

void printRows(show::Out& out, const DesignRun& run) {
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
  out.table(table);
}

void printNotes(show::Out& out, const DesignRun& run, const design::Checks& known) {
  if (run.spec.factors.empty()) return;
  if (!run.array.construction.empty()) out.say("construction: {}\n", run.array.construction);
  if (run.array.smallestPossible != 0 && run.array.runs <= run.array.smallestPossible) {
    out.say("rows: the fewest possible ({})\n", run.array.smallestBy);
  } else if (run.array.smallestPossible != 0) {
    out.say("rows: at least {} are needed ({})\n", run.array.smallestPossible, run.array.smallestBy);
  }
  if (run.covering) printCovering(out, *run.covering);
  if (run.repaired) {
    out.say("constrained: {}: {}\n", run.repaired->from, repairText(*run.repaired));
    out.say("model: {}", repairQuality(*run.repaired));
    if (known.wordLengths.size() > 2) out.say(", A2 = {:.3g}", known.wordLengths[2].toDouble());
    out.say("\n");
  }
  printExcluded(out, run);
  out.say("counted: strength {}", known.strength);
  if (known.mainEffects) out.say(", main effects of rank {} of {}", known.mainEffects->rank, known.mainEffects->parameters);
  if (known.pairs.total != 0) out.say(", {} of {} pairs of levels", known.pairs.covered, known.pairs.total);
  if (known.duplicateRows != 0) out.say(", {} duplicate rows", known.duplicateRows);
  out.say("\n");
  printAliases(out, run, known);
  for (const design::Dependence& dependence : known.dependences) out.say("note: {}\n", dependence.text);
}

/// The factors with the levels that the array has: `--at` may have added one.
std::vector<design::Factor> factorsOfArray(const DesignRun& run) {
  std::vector<design::Factor> factors = run.factors();
  for (std::uint32_t f = 0; f < factors.size(); ++f) {
    const std::size_t count = design::valuesOf(run.array, f);
    if (factors[f].labels.size() > count) factors[f].labels.resize(count);
    if (factors[f].values.size() > count) factors[f].values.resize(count);
  }
  return factors;
}

}  // namespace

void printDesign(show::Out& out, const DesignRun& run, DesignView view) {
  if (view.rows) printRows(out, run);
  if (view.notes) printNotes(out, run, design::checkArray(factorsOfArray(run), run.array));
}

void printDesigns(show::Out& out, const State& state, bool csv) {
  for (const auto& run : state.designs.runs) {
    if (csv) {
      printCsv(out, *run);
      continue;
    }
    if (out.display.json) {
      printDesignJson(out, *run, design::checkArray(factorsOfArray(*run), run->array));
    } else {
      printDesign(out, *run, {});
    }
  }
}

}  // namespace tbem::driver
