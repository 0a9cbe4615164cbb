// A program under test: one process a case, JSON in and out.
#include "compiler/driver/OpenMp.h"
#include "compiler/driver/SpecTests.h"
#include "compiler/support/diagnostics/Specification.h"
#include "runtime/measure/Child.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace tbem::driver {

using spec::TestCase;

namespace {

CaseResult result(CaseResult::Verdict verdict, std::string reason, Json outputs = nullptr) {
  return {verdict, std::move(reason), std::move(outputs)};
}

/// A JSON value as the unknown's type wants it.
std::optional<Rational> valueOf(const spec::Unknown& unknown, const spec::Domain& domain, const Json& value) {
  if (unknown.isTruth) return value.is_boolean() ? std::optional(Rational::of(value.get<bool>() ? 1 : 0)) : std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  if (value.is_number_integer()) return Rational::of(value.get<std::int64_t>());
  if (!value.is_number_float()) return std::nullopt;
  const std::optional<Rational> number = Rational::fromDouble(value.get<double>());
  return number && (domain.isReal || number->isInt()) ? number : std::nullopt;
}

/// Reads outputs into the point; "" or what is wrong with them.
std::string readOutputs(const spec::ProcessModel& model, const Json& outputs, spec::Point& point) {
  std::vector<bool> taken(model.unknowns.size(), false);
  for (const auto& [name, value] : outputs.items()) {
    bool known = false;
    for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
      const spec::Unknown& unknown = model.unknowns[s];
      if (!unknown.isOutput || unknown.name != name || model.isPresence(s)) continue;
      point[s] = valueOf(unknown, model.domains[s], value);
      if (!point[s]) {
        const char* type = unknown.isTruth ? "a bool" : model.domains[s].isReal ? "a number" : "a whole number";
        return fmt::format("`{}` is {}, no {}", name, value.dump(), type + 2);
      }
      taken[s] = known = true;
    }
    if (!known) return fmt::format("no output is called `{}`", name);
  }
  // Ports: those of one group, all of them.
  for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
    if (!model.unknowns[s].isOutput || !model.isPresence(s)) continue;
    bool any = false;
    for (std::size_t k = 0; k < model.unknowns.size(); ++k) any = any || (model.unknowns[k].port == s && taken[k]);
    point[s] = Rational::of(any ? 1 : 0);
  }
  for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
    const spec::Unknown& unknown = model.unknowns[s];
    if (!unknown.isOutput || model.isPresence(s) || taken[s]) continue;
    const bool absent = unknown.port && point[*unknown.port] == Rational{};
    if (!absent) return fmt::format("`{}` is missing", unknown.name);
    point[s] = Rational{};
  }
  std::vector<sema::ExprId> axioms = model.axioms;
  spec::Points rules(model.pool, axioms);
  rules.at(point);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules.holds(i)) return "the outputs of one port, and of one alone, are wanted";
  }
  return {};
}

/// The beginning of an answer, on one line.
std::string beginningOf(const std::string& text) {
  std::string shown = text.substr(0, 60);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown + (text.size() > shown.size() ? "..." : "");
}

/// Judges what a program answered.
CaseResult judge(const TestedSpec& spec, spec::Oracle& oracle, const TestCase& one, const std::string& text) {
  using enum CaseResult::Verdict;
  const Json answer = Json::parse(text, nullptr, false);
  if (answer.is_discarded() || !answer.is_object())
    return result(Malformed, text.empty() ? "it answered nothing" : fmt::format("`{}` is no JSON object", beginningOf(text)));
  if (answer.contains("refused")) {
    if (!one.scenario) return result(Passed, {});
    return result(Failed, fmt::format("refused, though `pre` holds and scenario {} applies", *one.scenario + 1));
  }
  if (!answer.contains("outputs") || !answer["outputs"].is_object())
    return result(Malformed, fmt::format("`{}` has neither `outputs`, an object, nor `refused`", beginningOf(text)));
  const Json& outputs = answer["outputs"];
  spec::Point point(spec.model.pool.symbolCount());
  for (const auto& [symbol, value] : one.inputs) point[static_cast<std::size_t>(symbol)] = value;
  if (const std::string problem = readOutputs(spec.model, outputs, point); !problem.empty())
    return result(Malformed, problem, outputs);
  if (!one.scenario) return result(Failed, "`pre` does not hold, and it was not refused", outputs);
  const std::optional<std::size_t> broken = oracle.violated(point);
  if (!broken) return result(Passed, {}, outputs);
  return result(Failed, fmt::format("definition {} does not hold: {}", *broken + 1, spec.scenarios[*broken].definitionText),
                outputs);
}

/// What a program reads of a case.
std::string lineOf(const TestedSpec& spec, std::size_t number) {
  return Json({{"case", number + 1}, {"process", spec.name()}, {"inputs", spec.inputs(spec.suite.cases[number])}}).dump();
}

/// The answers that a process allows, one for each of its output ports: `{"outputs": {"given": int, "stock": int}}`.
std::string answersTo(const spec::ProcessModel& model) {
  std::vector<std::optional<std::size_t>> ports;
  for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
    const spec::Unknown& one = model.unknowns[s];
    if (one.isOutput && one.port && std::find(ports.begin(), ports.end(), one.port) == ports.end()) ports.push_back(one.port);
  }
  if (ports.empty()) ports.emplace_back();
  std::string text;
  for (const std::optional<std::size_t>& port : ports) {
    std::string fields;
    for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
      const spec::Unknown& one = model.unknowns[s];
      if (!one.isOutput || model.isPresence(s) || (one.port && one.port != port)) continue;
      const char* type = one.isTruth ? "bool" : model.domains[s].isReal ? "number" : "int";
      fields += fmt::format("{}\"{}\": {}", fields.empty() ? "" : ", ", one.name, type);
    }
    text += fmt::format("`{{\"outputs\": {{{}}}}}`, ", fields);
  }
  return text + "or `{\"refused\": \"why\"}`";
}

}  // namespace

void reportUnanswered(DiagnosticSink& sink, const TestedSpec& spec, const std::vector<CaseResult>& results,
                      const std::string& command) {
  using enum CaseResult::Verdict;
  for (const CaseResult::Verdict kind : {Crashed, TimedOut, Malformed}) {
    const auto is = [&](const CaseResult& one) { return one.verdict == kind; };
    const auto first = std::find_if(results.begin(), results.end(), is);
    if (first == results.end()) continue;
    const auto number = static_cast<std::size_t>(first - results.begin());
    const auto count = static_cast<std::size_t>(std::count_if(first, results.end(), is));
    Diagnostic& one = sink.report(diag::case_unanswered, spec.model.decl->name.range, number + 1, spec.name(), first->reason);
    one.note("expected on standard output, with exit status 0: " + answersTo(spec.model));
    if (count > 1) one.note(fmt::format("{} cases of `{}` ended so ({})", count, spec.name(), word(kind)));
    const bool isCompound = command.find_first_of(";&|\n") != std::string::npos;
    one.note(fmt::format("this case alone: echo '{}' | {}", lineOf(spec, number), isCompound ? "(" + command + ")" : command));
    if (kind == TimedOut) one.note("`--timeout SECONDS` allows a case more");
  }
}

CaseResult runCase(const TestedSpec& spec, spec::Oracle& oracle, std::size_t number, const std::string& command, double seconds) {
  using enum CaseResult::Verdict;
  const TestCase& one = spec.suite.cases[number];
  measure::Command child;
  child.argv = {"/bin/sh", "-c", command};
  child.input = lineOf(spec, number) + "\n";
  child.timeLimit = seconds;
  child.maxOutput = std::size_t{1} << 20;
  const AllProcessors inherited;
  const auto outcome = measure::spawn(child);
  if (!outcome) return result(Crashed, outcome.error());
  if (outcome->timedOut) return result(TimedOut, fmt::format("no end after {} s", seconds));
  if (outcome->exitCode != 0) {
    std::string why = outcome->exitCode ? fmt::format("exit {}", *outcome->exitCode)
                                        : fmt::format("signal {} ({})", outcome->signal, strsignal(outcome->signal));
    std::string last = outcome->errorTail;
    while (!last.empty() && last.back() == '\n') last.pop_back();
    last.erase(0, last.find_last_of('\n') + 1);
    return result(Crashed, last.empty() ? why : why + ": " + last);
  }
  if (outcome->outputCut) return result(Malformed, "it wrote more than 1 MiB");
  std::string text = outcome->output;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return judge(spec, oracle, one, text);
}

}  // namespace tbem::driver
