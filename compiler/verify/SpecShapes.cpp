// A network, block or operator under test: elaborated at each case, the shapes of its results judged by its declaration.
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/verify/NetworkTrial.h"
#include "compiler/verify/SpecTests.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

using spec::TestCase;
using Verdict = CaseResult::Verdict;

namespace {

/// The design that builds it once: "design case of conv2d(out: 4, kernel: [3, 3]) { input x: [2, 3, 8, 8] }". An optimiser
/// updates the weight of a dense layer.
std::string designText(const spec::Contract& contract, const spec::Point& point) {
  const auto value = [&](sema::SymbolId symbol) {
    const auto s = static_cast<std::size_t>(symbol);
    const Rational& number = *point[s];
    return contract.model.unknowns[s].isTruth ? std::string(number.num != 0 ? "true" : "false") : number.str();
  };
  const auto list = [&](const std::vector<sema::SymbolId>& symbols) {
    std::string text;
    for (const sema::SymbolId symbol : symbols) text += (text.empty() ? "" : ", ") + value(symbol);
    return "[" + text + "]";
  };
  std::string text;
  for (const spec::Contract::Parameter& one : contract.parameters)
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ", one.name, one.isList ? list(one.values) : value(one.values.front()));
  const std::string call = fmt::format("{}({})", contract.decl->name.text, text);
  if (contract.isOptimizer()) {
    const std::vector<sema::SymbolId>& weight = contract.tensors.front().dims;
    return fmt::format(
        "design case of std.nn.dense(out: {}, use_bias: false) {{\n  input x: [1, {}]\n"
        "  task train(loss: std.nn.mse, optimizer: {})\n}}\n",
        value(weight[0]), value(weight[1]), call);
  }
  text = "design case of " + call + " {\n";
  for (std::size_t i = 0; i < contract.tensors.size(); ++i) {
    const spec::Contract::Tensor& one = contract.tensors[i];
    std::string shape = list(one.dims);
    for (; one.inList && i + 1 < contract.tensors.size() && contract.tensors[i + 1].name == one.name; ++i)
      shape += ", " + list(contract.tensors[i + 1].dims);
    text += fmt::format("  input {}: {}\n", one.name, one.inList ? "[" + shape + "]" : shape);
  }
  return text + "}\n";
}

}  // namespace

ShapeTrials::ShapeTrials(Workspace& workspace, const Target& target, const spec::Contract& contract, const TestedSpec& spec)
    : workspace(workspace), target(target), contract(contract), spec(spec), oracle(contract.model, spec.scenarios) {}

/// The shapes of the results at the case; nothing after a report.
std::optional<std::vector<std::vector<std::int64_t>>> ShapeTrials::elaborate(const spec::Point& point) {
  const std::unique_ptr<TrialDesign> design = designOf(workspace, {designText(contract, point), ""}, target);
  if (design == nullptr) return std::nullopt;
  const std::optional<graph::Row> row = design->experiment.row({});
  if (!row) return std::nullopt;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const graph::TensorId output : row->graph().outputs) shapes.push_back(row->shape(output));
  return shapes;
}

CaseResult ShapeTrials::run(std::size_t number) {
  const TestCase& one = spec.suite.cases[number];
  spec::Point point(contract.model.pool.symbolCount());
  for (const auto& [symbol, value] : one.inputs) point[static_cast<std::size_t>(symbol)] = value;
  DiagnosticSink& sink = workspace.session.sink;
  const std::deque<Diagnostic> before = sink.all();
  sink.clear();
  const auto shapes = elaborate(point);
  std::optional<Diagnostic> mistake;
  for (const Diagnostic& each : sink.all()) {
    if (each.severity == Severity::Error && !mistake) mistake = each;
  }
  sink.clear();
  for (const Diagnostic& each : before) sink.append(each);
  if (!shapes) return refusal(one, mistake);
  return judge(one, *shapes, std::move(point));
}

/// It was not built: by what its declaration demands, or by something inside.
CaseResult ShapeTrials::refusal(const TestCase& one, const std::optional<Diagnostic>& mistake) const {
  if (!mistake) return {Verdict::Crashed, "it was not built, and nothing says why", nullptr};
  const std::string said = renderBrief(*mistake);
  const bool demanded = !mistake->labels.empty() && contract.demands(mistake->labels.front().range);
  if (!one.scenario) {
    if (demanded || mistake->kind == diag::outside_domain) return {Verdict::Passed, {}, nullptr};
    return {Verdict::Failed, "`pre` does not hold, yet it was refused only inside: " + said, nullptr};
  }
  return {Verdict::Failed, (demanded ? "refused, though `pre` holds: " : "`pre` holds, and it was refused inside: ") + said,
          nullptr};
}

CaseResult ShapeTrials::judge(const TestCase& one, const std::vector<std::vector<std::int64_t>>& shapes, spec::Point point) {
  Json outputs = Json::object();
  std::string wrong;
  for (std::size_t i = 0; i < contract.results.size(); ++i) {
    if (!contract.results[i]) break;  // how many tensors a list has is not declared, nor what follows it
    const std::vector<sema::SymbolId>& dims = *contract.results[i];
    if (i >= shapes.size() || shapes[i].size() != dims.size()) {
      wrong = fmt::format("result {} has another number of dimensions", i + 1);
      break;
    }
    for (std::size_t k = 0; k < shapes[i].size(); ++k) {
      const auto s = static_cast<std::size_t>(dims[k]);
      point[s] = Rational::of(shapes[i][k]);
      outputs[contract.model.unknowns[s].name] = shapes[i][k];
    }
  }
  if (!one.scenario) return {Verdict::Failed, "`pre` does not hold, and it was built", std::move(outputs)};
  if (!wrong.empty()) return {Verdict::Failed, wrong, std::move(outputs)};
  const std::optional<std::size_t> broken = oracle.violated(point);
  if (!broken) return {Verdict::Passed, {}, std::move(outputs)};
  return {Verdict::Failed, fmt::format("definition {} does not hold: {}", *broken + 1, spec.scenarios[*broken].definitionText),
          std::move(outputs)};
}

}  // namespace tbem::driver
