#include "compiler/graph/read/MicroBatches.h"

#include "compiler/diagnostics/tables/Graph.h"

#include <fmt/format.h>

namespace tbem::graph {

bool splitBatch(Elaborator& e, const ast::Expr& clause, const sema::Module& module, const std::vector<Local>& factors) {
  const Value value = e.evaluateIn(module, clause, factors);
  if (value.isPoison()) return false;
  const std::optional<Rational> parts = value.is(ValueKind::Number) ? e.force(value, clause.range) : std::nullopt;
  if (!parts || !parts->isInt() || parts->num < 1) {
    e.fail(diag::design_clause_value, clause.range, "accumulate", "a whole number from 1",
           parts ? parts->str() : kindName(value));
    return false;
  }
  e.graph.microBatches = parts->num;
  return true;
}

std::vector<ExprId> shapeOfBatch(Elaborator& e, std::vector<ExprId> part) {
  part.front() = e.pool.make(ExprOp::Mul, part.front(), e.pool.constant(e.graph.microBatches));
  return part;
}

TensorId addInputInParts(Elaborator& e, const InputTensor& part, std::vector<ExprId> all) {
  Graph& graph = e.graph;
  const TensorId input = e.builder.addInput(part.name, part.dtype, std::move(all), part.range);
  const TensorId result = e.builder.addTensor(part.name, part.dtype, part.shape, part.range);
  graph[result].storage = graph[input].storage;
  Op op;
  op.kind = OpKind::View;
  op.window = true;
  op.declaration = "micro_batch";
  op.inputs = {input};
  op.outputs = {result};
  op.range = part.range;
  e.builder.addOp(std::move(op));
  return result;
}

namespace {

constexpr std::size_t kMostDivisors = 16;

std::string divisorsOf(std::int64_t samples) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t k = 1; k <= samples && divisors.size() <= kMostDivisors; ++k) {
    if (samples % k == 0) divisors.push_back(k);
  }
  const bool more = divisors.size() > kMostDivisors;
  if (more) divisors.pop_back();
  return fmt::format("{}{}", fmt::join(divisors, ", "), more ? ", ..." : "");
}

/// Rows that break it in the same way add their levels to what was reported.
bool reportOnce(DiagnosticSink& sink, Diagnostic made, const std::vector<std::pair<std::string, std::string>>& levels) {
  made.levels = levels;
  Diagnostic* const told = sink.find(
      [&](const Diagnostic& one) { return one.kind == made.kind && one.range == made.range && one.message == made.message; });
  if (told != nullptr)
    told->alsoAt(levels);
  else
    sink.append(std::move(made));
  return false;
}

}  // namespace

bool splitsEvenly(DiagnosticSink& sink, SrcRange clause, const std::vector<InputSamples>& inputs, std::int64_t parts,
                  const std::vector<std::pair<std::string, std::string>>& levels) {
  const InputSamples& first = inputs.front();
  DiagnosticSink here;
  for (const InputSamples& input : inputs) {
    if (input.samples && input.samples == first.samples) continue;
    const auto text = [](const InputSamples& one) { return one.samples ? one.samples->str() : std::string("none"); };
    here.report(diag::samples_differ, input.range, input.name, text(input), text(first)).label(clause, "splits the batch");
    return reportOnce(sink, here.all().front(), levels);
  }
  const Rational batch = *first.samples;
  if (!batch.isInt() || batch.num % parts == 0) return true;  // a fraction is reported where dimensions are
  here.report(diag::batch_not_divided, clause, batch.num, parts)
      .label(first.range, fmt::format("{} samples", batch.num))
      .note(fmt::format("{} can be split into {}", batch.num, divisorsOf(batch.num)));
  return reportOnce(sink, here.all().front(), levels);
}

std::optional<TensorId> addBatchInput(Elaborator& e, InputTensor input, SrcRange clause,
                                      const std::vector<std::pair<std::string, std::string>>& at) {
  const Graph& graph = e.graph;
  if (graph.microBatches == 1) return e.builder.addInput(input.name, input.dtype, std::move(input.shape), input.range);
  std::vector<InputSamples> inputs;
  if (!graph.inputs.empty()) {
    const Tensor& first = graph[graph.inputs.front()];
    inputs.push_back({first.name, first.range, e.peek(first.shape.front())});
  }
  inputs.push_back({input.name, input.range, input.shape.empty() ? std::nullopt : e.peek(input.shape.front())});
  if (!splitsEvenly(e.sink, clause, inputs, graph.microBatches, at)) return std::nullopt;
  std::vector<ExprId> all = input.shape;
  input.shape.front() = e.pool.make(ExprOp::Divide, all.front(), e.pool.constant(graph.microBatches));
  return addInputInParts(e, input, std::move(all));
}

std::vector<InputSamples> samplesOf(const Graph& graph, const sema::Values& values) {
  std::vector<InputSamples> inputs;
  for (std::size_t i = 0; i + 1 < graph.inputs.size(); ++i) {
    const Tensor& input = graph[graph.inputs[i]];
    inputs.push_back({input.name, input.range, values[input.shape.front()]});
  }
  return inputs;
}

}  // namespace tbem::graph
