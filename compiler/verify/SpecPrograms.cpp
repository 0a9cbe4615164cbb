// A program under test: one process a case, JSON in and out.
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/process/OpenMp.h"
#include "compiler/verify/SpecTests.h"
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

/// What a program's outputs are at a point, or what is wrong with them.
struct Outputs {
  std::string problem;
  std::string tooLong;  ///< a sequence or set that is longer than any that meets `post`
};

/// A JSON value as the type wants it, which a Variable's element has.
std::optional<Rational> valueOf(const spec::ProcessModel& model, const spec::Variable& variable, const Json& value) {
  if (variable.isTruth) return value.is_boolean() ? std::optional(Rational::of(value.get<bool>() ? 1 : 0)) : std::nullopt;
  if (variable.isWord) {
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    const auto is = [&](const std::string& word) { return word.substr(1, word.size() - 2) == text; };
    const auto word = std::find_if(model.words.begin(), model.words.end(), is);
    if (word == model.words.end()) return std::nullopt;
    return Rational::of(spec::ProcessModel::kFirstWord + (word - model.words.begin()));
  }
  const bool isReal = !variable.symbols.empty() && model.domains[static_cast<std::size_t>(variable.symbols.front())].isReal;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  if (value.is_number_integer()) return Rational::of(value.get<std::int64_t>());
  if (!value.is_number_float()) return std::nullopt;
  const std::optional<Rational> number = Rational::fromDouble(value.get<double>());
  return number && (isReal || number->isInt()) ? number : std::nullopt;
}

/// "bool", "number", "int", "text"; of a sequence or set "[int, ...]".
std::string typeOf(const spec::ProcessModel& model, const spec::Variable& one) {
  if (!one.elements.empty()) return "[" + typeOf(model, one.elements.front()) + ", ...]";
  const bool isReal = !one.symbols.empty() && model.domains[static_cast<std::size_t>(one.symbols.front())].isReal;
  const std::string item = one.isTruth ? "bool" : one.isWord ? "text" : isReal ? "number" : "int";
  return one.shape == spec::Variable::Shape::Plain ? item : "[" + item + ", ...]";
}
std::string wantedOf(const spec::ProcessModel& model, const spec::Variable& one) {
  const std::string item = typeOf(model, one);
  if (one.shape != spec::Variable::Shape::Plain) return item;
  return item == "int" ? "whole number" : item == "text" ? "text that the specification knows" : item;
}

/// That so many elements are too many to be judged, or for `post`.
Outputs tooMany(const spec::Variable& variable, std::size_t count) {
  const std::string found = fmt::format("`{}` has {} elements", variable.name, count);
  if (variable.isCut) return {fmt::format("{}, and {} at most are judged: `post` may bound them", found, variable.looked()), {}};
  return {{}, fmt::format("{}, more than `post` allows", found)};
}

Outputs readOutput(const spec::ProcessModel& model, const spec::Variable& variable, const Json& value, spec::Point& point);

/// Of a sequence or set of sequences or sets.
Outputs readElements(const spec::ProcessModel& model, const spec::Variable& variable, const Json& list, spec::Point& point) {
  if (list.size() > variable.elements.size()) return tooMany(variable, list.size());
  for (const sema::SymbolId symbol : variable.unknowns()) point[static_cast<std::size_t>(symbol)] = Rational{};
  point[static_cast<std::size_t>(*variable.size)] = Rational::of(static_cast<std::int64_t>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    Outputs one = readOutput(model, variable.elements[i], list[i], point);
    if (!one.problem.empty() || !one.tooLong.empty()) return one;
    for (std::size_t k = 0; k < i && variable.shape == spec::Variable::Shape::Set; ++k) {
      if (jsonOf(model, variable.elements[k], point) == jsonOf(model, variable.elements[i], point))
        return {fmt::format("`{}` is {}: a set has each member once", variable.name, list.dump()), {}};
    }
  }
  model.normalize(point);
  return {};
}

/// Sets the unknowns of one output.
Outputs readOutput(const spec::ProcessModel& model, const spec::Variable& variable, const Json& value, spec::Point& point) {
  const auto slot = [&](sema::SymbolId symbol) -> std::optional<Rational>& { return point[static_cast<std::size_t>(symbol)]; };
  const Outputs wrong{fmt::format("`{}` is {}, no {}", variable.name, value.dump(), wantedOf(model, variable)), {}};
  if (variable.shape == spec::Variable::Shape::Plain) {
    slot(variable.symbols.front()) = valueOf(model, variable, value);
    return slot(variable.symbols.front()) ? Outputs{} : wrong;
  }
  if (!value.is_array()) return wrong;
  if (!variable.elements.empty()) return readElements(model, variable, value, point);
  std::vector<Rational> items;
  for (const Json& one : value) {
    const std::optional<Rational> item = valueOf(model, variable, one);
    if (!item) return wrong;
    items.push_back(*item);
  }
  if (variable.shape == spec::Variable::Shape::Set) {
    std::sort(items.begin(), items.end(), [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
    if (std::adjacent_find(items.begin(), items.end()) != items.end())
      return {fmt::format("`{}` is {}: a set has each member once", variable.name, value.dump()), {}};
  }
  for (std::size_t i = 0; i < variable.candidates.size(); ++i) {
    const auto found = std::find(items.begin(), items.end(), variable.candidates[i]);
    slot(variable.symbols[i]) = Rational::of(found != items.end() ? 1 : 0);
    if (found != items.end()) items.erase(found);
  }
  if (!variable.size) {
    if (items.empty()) return {};
    return {fmt::format("`{}` is {}, which has members that its type does not allow", variable.name, value.dump()), {}};
  }
  if (items.size() > variable.symbols.size()) return tooMany(variable, items.size());
  slot(*variable.size) = Rational::of(static_cast<std::int64_t>(items.size()));
  for (std::size_t i = 0; i < variable.symbols.size(); ++i) slot(variable.symbols[i]) = i < items.size() ? items[i] : Rational{};
  model.normalize(point);
  return {};
}

/// The name of what an unknown belongs to.
std::string nameOf(const spec::ProcessModel& model, std::size_t unknown) {
  const auto holds = [&](const spec::Variable& one) { return one.has(static_cast<sema::SymbolId>(unknown)); };
  return std::find_if(model.variables.begin(), model.variables.end(), holds)->name;
}

/// Reads outputs into the point.
Outputs readOutputs(const spec::ProcessModel& model, const Json& outputs, spec::Point& point) {
  Outputs result;
  std::vector<bool> taken(model.unknowns.size(), false);
  for (const auto& [name, value] : outputs.items()) {
    const auto is = [&, &name = name](const spec::Variable& one) { return one.isOutput && one.name == name; };
    const auto variable = std::find_if(model.variables.begin(), model.variables.end(), is);
    if (variable == model.variables.end()) return {fmt::format("no output is called `{}`", name), {}};
    const Outputs one = readOutput(model, *variable, value, point);
    if (!one.problem.empty()) return one;
    if (!one.tooLong.empty()) result.tooLong = one.tooLong;
    for (const sema::SymbolId symbol : variable->unknowns()) taken[static_cast<std::size_t>(symbol)] = true;
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
    if (!absent) return {fmt::format("`{}` is missing", nameOf(model, s)), {}};
    point[s] = Rational{};
  }
  if (!result.tooLong.empty()) return result;
  const std::vector<sema::ExprId>& axioms = model.axioms;
  spec::Points rules(model.pool, axioms);
  rules.at(point);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules.holds(i)) return {"the outputs of one port, and of one alone, are wanted", {}};
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
  const Outputs found = readOutputs(spec.model, outputs, point);
  if (!found.problem.empty()) return result(Malformed, found.problem, outputs);
  if (!one.scenario) return result(Failed, "`pre` does not hold, and it was not refused", outputs);
  if (!found.tooLong.empty()) return result(Failed, found.tooLong, outputs);
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
    for (const spec::Variable& one : model.variables) {
      if (!one.isOutput || (one.port && one.port != port)) continue;
      fields += fmt::format("{}\"{}\": {}", fields.empty() ? "" : ", ", one.name, typeOf(model, one));
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
