// A condition that does not hold in a row: which, where, with what values, and the chain of shapes that led there.
#include "compiler/graph/elaborate/Violation.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"

#include <algorithm>
#include <span>

namespace tbem::graph {

namespace {
constexpr std::size_t kChain = 8;

std::string valueText(const sema::Values& values, ExprId id) {
  switch (values.errorOf(id)) {
    case sema::EvalError::None:
      return values[id].str();
    case sema::EvalError::DivisionByZero:
      return "a division by zero";
    case sema::EvalError::Overflow:
      return "a number beyond 64 bits";
    default:
      return "no value";
  }
}

/// "axis = 1, shape(x) = [2, 8]": neighbours of one name are the dimensions of a shape.
std::string bindingsText(std::span<const std::pair<std::string, ExprId>> bindings, const sema::Values& values) {
  std::string text;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const std::string& name = bindings[i].first;
    const bool isShape = name.starts_with("shape(");
    const bool isFirst = i == 0 || bindings[i - 1].first != name;
    if (isFirst) text += (text.empty() ? "" : ", ") + name + " = " + (isShape ? "[" : "");
    if (!isFirst) text += ", ";
    text += valueText(values, bindings[i].second);
    if (isShape && (i + 1 == bindings.size() || bindings[i + 1].first != name)) text += "]";
  }
  return text;
}

/// "image [4, 3, 30, 30] -> conv2d [4, 64, 30, 30] -> ...", the last kChain of it.
std::string chainText(const Graph& graph, TensorId tensor, const sema::Values& values) {
  std::vector<std::string> steps;
  bool more = false;
  while (tensor != kNoTensor) {
    const Tensor& t = graph[tensor];
    const std::string word = t.producer == kNoOp ? t.name : graph[t.producer].declaration;
    if (steps.size() == kChain) {
      more = true;
      break;
    }
    steps.push_back(word + " " + shapeText(graph, tensor, values));
    if (t.producer == kNoOp) break;
    tensor = graph[t.producer].inputs.empty() ? kNoTensor : graph[t.producer].inputs.front();
  }
  std::string text = more ? "... -> " : "";
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) text += (it == steps.rbegin() ? "" : " -> ") + *it;
  return text;
}
}  // namespace

void reportViolation(Session& session, const Structure& structure, const Obligation& obligation, const sema::Values& values,
                     const std::vector<std::pair<std::string, std::string>>& levels) {
  DiagnosticSink& sink = session.sink;
  // A structure that many rows share, or one that each row elaborates anew, breaks the same condition often: told once.
  Diagnostic* const told = sink.find([&](const Diagnostic& one) {
    return one.range == obligation.use && !one.labels.empty() && one.labels.front().range == obligation.range;
  });
  if (told != nullptr) return told->alsoAt(levels);
  Diagnostic* d = nullptr;
  switch (obligation.kind) {
    case Obligation::Kind::Dimension:
      d = &sink.report(diag::shape_mismatch, obligation.use, obligation.text, valueText(values, obligation.bindings[0].second),
                       valueText(values, obligation.bindings[1].second));
      d->label(obligation.range, "`" + obligation.subject + "` has it here");
      break;
    case Obligation::Kind::Post:
      d = &sink.report(diag::post_violated, obligation.use, obligation.subject, obligation.text);
      d->label(obligation.range, "promised here");
      break;
    case Obligation::Kind::Requires:
    case Obligation::Kind::RequiresOfResult:
      d = &sink.report(diag::requirement_violated, obligation.use, obligation.subject, obligation.text);
      d->label(obligation.range, "required here");
      break;
    case Obligation::Kind::Assert:
      d = &sink.report(diag::assertion_failed, obligation.use, obligation.message.empty() ? obligation.text : obligation.message);
      d->label(obligation.range, "this is false");
      break;
    default:
      d = &sink.report(diag::pre_violated, obligation.use, obligation.subject, obligation.text);
      d->label(obligation.range, "needed here");
      break;
  }
  const std::size_t named = obligation.kind == Obligation::Kind::Dimension ? 2 : 0;  // the message has those of a dimension
  if (obligation.bindings.size() > named) d->note("here " + bindingsText(std::span(obligation.bindings).subspan(named), values));
  if (obligation.culprit != kNoTensor) {
    const Graph& graph = structure.graph;
    const Tensor& tensor = graph[obligation.culprit];
    const bool isInput = std::find(graph.inputs.begin(), graph.inputs.end(), obligation.culprit) != graph.inputs.end();
    const bool mattersHere = std::any_of(obligation.bindings.begin(), obligation.bindings.end(), [&](const auto& binding) {
      return std::find(tensor.shape.begin(), tensor.shape.end(), binding.second) != tensor.shape.end();
    });
    if (tensor.producer != kNoOp)
      d->note("shapes: " + chainText(graph, obligation.culprit, values));
    else if (isInput && mattersHere && tensor.range.valid())
      d->label(tensor.range, "`" + tensor.name + "` is " + shapeText(graph, obligation.culprit, values) + " here");
  }
  for (const auto& [factor, level] : levels) d->level(factor, level);
}

}  // namespace tbem::graph
