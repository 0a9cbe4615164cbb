#include "compiler/show/proofs/TestReport.h"

#include "compiler/emit/JsonNumber.h"
#include "compiler/support/Csv.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tbem::driver {

using spec::TestCase;
using Verdict = CaseResult::Verdict;

namespace {

/// One specification's cases, with what came of each where they were tried.
class Printer {
public:
  Printer(show::Out& out, const TestView& view, const TestedSpec& tested, const std::vector<CaseResult>& results)
      : out(out), view(view), tested(tested), results(results) {}

  void printObjects() const {
    for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) {
      const TestCase& one = tested.suite.cases[i];
      Json object = {{"process", tested.name()},
                     {"case", i + 1},
                     {"scenario", one.scenario ? Json(*one.scenario + 1) : Json(nullptr)},
                     {"expected", one.scenario ? "definition" : "refusal"},
                     {"origin", word(one.kind)},
                     {"condition", one.atom.empty() ? Json(nullptr) : Json(one.atom)},
                     {"distance", one.distance ? jsonNumber(*one.distance) : Json(nullptr)},
                     {"inputs", tested.inputs(one)}};
      if (i < results.size()) {
        object["verdict"] = word(results[i].verdict);
        object["outputs"] = results[i].outputs;
        object["reason"] = results[i].reason.empty() ? Json(nullptr) : Json(results[i].reason);
      }
      out.json("spec_test", std::move(object));
    }
    Json summary = {{"process", tested.name()},
                    {"cases", tested.suite.cases.size()},
                    {"to_refuse", refused()},
                    {"seed", view.seed},
                    {"gaps", tested.suite.gaps}};
    if (!results.empty()) {
      for (const Verdict verdict : {Verdict::Passed, Verdict::Failed, Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed})
        summary[word(verdict)] = count(verdict);
    }
    out.json("spec_tests", std::move(summary));
  }

  void printLines() const {
    std::vector<std::string> fields = {"case", "scenario", "origin", "condition", "distance"};
    for (const spec::Variable* variable : tested.columns()) fields.push_back(variable->name);
    if (!results.empty()) fields.insert(fields.end(), {"verdict", "reason"});
    out.data(csvLine(fields));
    for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) {
      const TestCase& one = tested.suite.cases[i];
      fields = {std::to_string(i + 1), one.scenario ? std::to_string(*one.scenario + 1) : "", word(one.kind), one.atom,
                one.distance ? one.distance->str() : ""};
      for (const spec::Variable* variable : tested.columns()) fields.push_back(tested.cell(one, *variable));
      if (!results.empty()) fields.insert(fields.end(), {word(results[i].verdict), results[i].reason});
      out.data(csvLine(fields));
    }
  }

  /// All cases, or of a run those that did not pass.
  void printText() const {
    report::Table table;
    table.columns = {{"case"}, {"scenario", report::Align::Left}, {"origin", report::Align::Left}};
    for (const spec::Variable* variable : tested.columns()) table.columns.push_back({variable->name});
    table.columns.push_back({"at"});
    table.columns.push_back({"of", report::Align::Left});
    if (!results.empty()) {
      table.columns.push_back({"verdict", report::Align::Left});
      table.columns.push_back({"why", report::Align::Left});
    }
    for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) {
      const TestCase& one = tested.suite.cases[i];
      if (!results.empty() && results[i].verdict == Verdict::Passed) continue;
      std::vector<report::Cell> row = {std::to_string(i + 1), one.scenario ? std::to_string(*one.scenario + 1) : "to be refused",
                                       word(one.kind)};
      for (const spec::Variable* variable : tested.columns()) row.emplace_back(tested.cell(one, *variable));
      row.emplace_back(one.distance ? one.distance->str() : "");
      row.emplace_back(one.atom);
      if (!results.empty()) {
        const bool failed = results[i].verdict == Verdict::Failed;
        row.emplace_back(word(results[i].verdict), failed ? report::Tone::Bad : report::Tone::Warn);
        row.emplace_back(results[i].reason);
      }
      table.add(std::move(row));
    }
    if (!table.rows.empty()) {
      table.title = "cases of " + tested.name();
      out.table(table);
    }
    for (std::size_t i = 0; i < tested.scenarios.size(); ++i)
      out.print("scenario {}: {} && {}\n", i + 1, tested.scenarios[i].guardText, tested.scenarios[i].definitionText);
    out.print("{}: {} cases, {} of them to be refused (seed {})\n", tested.name(), tested.suite.cases.size(), refused(),
              view.seed);
    for (const std::string& gap : tested.suite.gaps) out.print("  {}\n", gap);
    if (results.empty()) return;
    std::string line;
    for (const Verdict verdict : {Verdict::Passed, Verdict::Failed, Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed}) {
      if (count(verdict) != 0 || verdict == Verdict::Passed)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count(verdict), word(verdict));
    }
    out.print("  {}\n", line);
  }

private:
  std::size_t count(Verdict verdict) const { return countOf(results, verdict); }
  std::size_t refused() const {
    const auto& cases = tested.suite.cases;
    return static_cast<std::size_t>(
        std::count_if(cases.begin(), cases.end(), [](const TestCase& each) { return !each.scenario; }));
  }

  show::Out& out;
  const TestView& view;
  const TestedSpec& tested;
  const std::vector<CaseResult>& results;
};

}  // namespace

void printTests(show::Out& out, const TestView& view, const TestedSpec& tested, const std::vector<CaseResult>& results) {
  const Printer printer(out, view, tested, results);
  if (out.display.json)
    printer.printObjects();
  else if (view.csv)
    printer.printLines();
  else
    printer.printText();
}

}  // namespace tbem::driver
