#include "compiler/verify/SpecTests.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/JsonNumber.h"
#include "compiler/show/Out.h"
#include "compiler/support/Csv.h"
#include "compiler/verify/Specs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace tbem::driver {

using spec::TestCase;
using Verdict = CaseResult::Verdict;

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed:
      return "passed";
    case Verdict::Failed:
      return "failed";
    case Verdict::Crashed:
      return "crashed";
    case Verdict::TimedOut:
      return "timeout";
    case Verdict::Malformed:
      return "malformed";
  }
  return "";
}

std::vector<const spec::Variable*> TestedSpec::columns() const {
  std::vector<const spec::Variable*> list;
  for (const spec::Variable& one : model.variables) {
    if (!one.isOutput) list.push_back(&one);
  }
  return list;
}

namespace {

spec::Point pointOf(const spec::ProcessModel& model, const TestCase& one) {
  spec::Point point(model.unknowns.size());
  for (const auto& [symbol, value] : one.inputs) point[static_cast<std::size_t>(symbol)] = value;
  return point;
}

/// Whether the port of an input has data.
bool hasData(const spec::Variable& variable, const spec::Point& point) {
  return !variable.port || point[*variable.port] != Rational{};
}

}  // namespace

Json jsonOf(const spec::ProcessModel& model, const spec::Variable& variable, std::span<const std::optional<Rational>> point) {
  const auto one = [&](const Rational& value) -> Json {
    if (variable.isTruth) return value.num != 0;
    if (!variable.isWord) return jsonNumber(value);
    const std::string& word = model.wordOf(value);
    return word.substr(1, word.size() - 2);
  };
  if (!variable.elements.empty()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < model.countOf(variable, point); ++i) list.push_back(jsonOf(model, variable.elements[i], point));
    return list;
  }
  const std::vector<Rational> items = model.itemsOf(variable, point);
  if (variable.shape == spec::Variable::Shape::Plain) return one(items.front());
  Json list = Json::array();
  for (const Rational& item : items) list.push_back(one(item));
  return list;
}

Json TestedSpec::inputs(const TestCase& one) const {
  Json values = Json::object();
  const spec::Point point = pointOf(model, one);
  for (const spec::Variable* variable : columns()) {
    if (hasData(*variable, point)) values[variable->name] = jsonOf(model, *variable, point);
  }
  return values;
}

namespace {

/// One specification's cases on their way through trials and to the terminal.
class Report {
public:
  Report(show::Out& out, const Options& options, const TestedSpec& tested) : out(out), options(options), tested(tested) {}

  void run(const std::function<CaseResult(std::size_t)>& trial) {
    for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) {
      results.push_back(trial(i));
      ++counts[static_cast<std::size_t>(results.back().verdict)];
    }
  }

  const std::vector<CaseResult>& all() const { return results; }
  std::size_t count(Verdict verdict) const { return counts[static_cast<std::size_t>(verdict)]; }

  void print() const {
    if (options.json)
      printObjects();
    else if (options.csv)
      printLines();
    else
      printText();
  }

private:
  std::size_t refused() const {
    const auto& cases = tested.suite.cases;
    return static_cast<std::size_t>(std::count_if(cases.begin(), cases.end(), [](const TestCase& one) { return !one.scenario; }));
  }

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
                    {"seed", options.seed},
                    {"gaps", tested.suite.gaps}};
    if (!results.empty()) {
      for (const Verdict verdict : {Verdict::Passed, Verdict::Failed, Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed})
        summary[word(verdict)] = count(verdict);
    }
    out.json("spec_tests", std::move(summary));
  }

  std::string cell(const TestCase& one, const spec::Variable& variable) const {
    const spec::Point point = pointOf(tested.model, one);
    return hasData(variable, point) ? tested.model.describe(variable, point) : std::string();
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
      for (const spec::Variable* variable : tested.columns()) fields.push_back(cell(one, *variable));
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
      for (const spec::Variable* variable : tested.columns()) row.emplace_back(cell(one, *variable));
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
              options.seed);
    for (const std::string& gap : tested.suite.gaps) out.print("  {}\n", gap);
    if (results.empty()) return;
    std::string line;
    for (const Verdict verdict : {Verdict::Passed, Verdict::Failed, Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed}) {
      if (count(verdict) != 0 || verdict == Verdict::Passed)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count(verdict), word(verdict));
    }
    out.print("  {}\n", line);
  }

  show::Out& out;
  const Options& options;
  const TestedSpec& tested;
  std::vector<CaseResult> results;
  std::array<std::size_t, 5> counts{};
};

int usage(show::Out& out, const std::string& text) {
  out.failure(text);
  return kUsage;
}

/// Makes, tries and prints the tests of the program's specifications.
class Tester {
public:
  Tester(show::Out& out, State& state, const Options& options) : out(out), state(state), options(options) {}

  void test(spec::CheckedProcess& process) {
    if (process.parenthesesLost || process.scenarios.empty()) return;
    TestedSpec tested{process.model, std::move(process.scenarios), {}};
    makeAndTry(tested, nullptr);
  }

  /// The conditions of a network, block or operator.
  void test(const ast::Callable& callable) {
    std::string why;
    Workspace& workspace = *state.workspace;
    std::optional<spec::Contract> contract =
        spec::readContract(workspace.session, *workspace.program, workspace.program->main(), callable, options.rank, why);
    if (!contract) {
      out.note(fmt::format("`{}` has no tests: {}", callable.name.text, why));
      return;
    }
    TestedSpec tested{contract->model, spec::deriveScenarios(workspace.session, contract->model), {}};
    makeAndTry(tested, &*contract);
  }

  int status() const { return failed ? kVerdictAgainst : broken ? kRunFailed : kOk; }

private:
  void makeAndTry(TestedSpec& tested, const spec::Contract* contract) {
    tested.suite = spec::makeTests(tested.model, tested.scenarios, {options.cases, options.step, options.distance, options.seed});
    Report report(out, options, tested);
    if (!options.program.empty()) {
      spec::Oracle oracle(tested.model, tested.scenarios);
      report.run([&](std::size_t i) { return runCase(tested, oracle, i, options.program, options.caseTime); });
      reportUnanswered(state.sink(), tested, report.all(), options.program);
    } else if (contract != nullptr && !contract->tensors.empty()) {
      ShapeTrials trials(*state.workspace, options, *contract, tested);
      report.run([&](std::size_t i) { return trials.run(i); });
    }
    report.print();
    failed = failed || report.count(Verdict::Failed) != 0;
    for (const Verdict verdict : {Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed})
      broken = broken || report.count(verdict) != 0;
  }

  show::Out& out;
  State& state;
  const Options& options;
  bool failed = false, broken = false;
};

/// Networks, blocks and operators whose declaration has conditions.
std::vector<const ast::Callable*> withConditions(const Workspace& workspace, const std::string& only) {
  std::vector<const ast::Callable*> found;
  for (const ast::Callable* one : workspace.all<ast::Callable>()) {
    const bool conditions = !one->pre.empty() || !one->post.empty() || !one->requirements.empty();
    if (only.empty() ? conditions : one->name.text == only) found.push_back(one);
  }
  return found;
}

}  // namespace

int runSpecTests(show::Out& out, const Options& options) {
  if (options.files.size() > 2) return usage(out, "`tbemc spec --tests` takes a program and the name of one of its declarations");
  const std::string only = options.files.size() == 2 ? options.files[1] : std::string();
  State state(options, out);
  state.proofs = spec::Work(options.effort);
  if (const Progressed done = runPipeline(out, state, "names"); !done.proceed) return done.status;
  std::vector<spec::CheckedProcess> processes = checkProcesses(state, only);
  const std::vector<const ast::Callable*> callables = withConditions(*state.workspace, only);
  std::size_t subjects = callables.size();
  for (const ast::Process* one : state.workspace->all<ast::Process>()) subjects += only.empty() || one->name.text == only ? 1 : 0;
  if (subjects == 0 && !only.empty())
    return usage(out, fmt::format("no process, network, block or operator is called `{}`", only));
  if (subjects > 1 && options.csv) return usage(out, "--csv takes one of the declarations: add its name");
  if (subjects == 0) out.note("the program has no process, and no network, block or operator with conditions");
  Tester tester(out, state, options);
  for (spec::CheckedProcess& one : processes) tester.test(one);
  for (const ast::Callable* one : callables) tester.test(*one);
  const int status = finish(out, state, kOk);
  return status != kOk ? status : tester.status();
}

}  // namespace tbem::driver
