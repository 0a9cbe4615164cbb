#include "compiler/graph/elaborate/Accumulate.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <fmt/format.h>

namespace tbem::graph {

bool Elaborator::splitBatch(const ast::Expr& clause, const sema::Module& module, const std::vector<Local>& factors) {
  const Value value = evaluateIn(module, clause, factors);
  if (value.isPoison()) return false;
  const std::optional<Rational> parts = value.is(ValueKind::Number) ? force(value, clause.range) : std::nullopt;
  if (!parts || !parts->isInt() || parts->num < 1) {
    fail(diag::design_clause_value, clause.range, "accumulate", "a whole number from 1", parts ? parts->str() : kindName(value));
    return false;
  }
  graph.microBatches = parts->num;
  return true;
}

std::vector<ExprId> Elaborator::shapeOfPart(std::vector<ExprId> all) {
  all.front() = pool.make(ExprOp::Divide, all.front(), whole(graph.microBatches));
  return all;
}
std::vector<ExprId> Elaborator::shapeOfBatch(std::vector<ExprId> part) {
  part.front() = pool.make(ExprOp::Mul, part.front(), whole(graph.microBatches));
  return part;
}

TensorId Elaborator::addInputInParts(const std::string& name, tbem_dtype dtype, std::vector<ExprId> all, std::vector<ExprId> part,
                                     SrcRange range) {
  const TensorId input = builder.addInput(name, dtype, std::move(all), range);
  const TensorId result = builder.addTensor(name, dtype, std::move(part), range);
  graph[result].storage = graph[input].storage;
  Op op;
  op.kind = OpKind::View;
  op.window = true;
  op.declaration = "micro_batch";
  op.inputs = {input};
  op.outputs = {result};
  op.range = range;
  builder.addOp(std::move(op));
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

std::optional<TensorId> Elaborator::addBatchInput(const std::string& name, tbem_dtype dtype, std::vector<ExprId> shape,
                                                  SrcRange range, SrcRange clause,
                                                  const std::vector<std::pair<std::string, std::string>>& at) {
  if (graph.microBatches == 1) return builder.addInput(name, dtype, std::move(shape), range);
  std::vector<InputSamples> inputs;
  if (!graph.inputs.empty()) {
    const Tensor& first = graph[graph.inputs.front()];
    inputs.push_back({first.name, first.range, peek(first.shape.front())});
  }
  inputs.push_back({name, range, shape.empty() ? std::nullopt : peek(shape.front())});
  if (!splitsEvenly(sink, clause, inputs, graph.microBatches, at)) return std::nullopt;
  std::vector<ExprId> part = shapeOfPart(shape);
  return addInputInParts(name, dtype, std::move(shape), std::move(part), range);
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
