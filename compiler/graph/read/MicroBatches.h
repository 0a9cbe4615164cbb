// Gradient accumulation, clause `accumulate k`: a step takes its batch as k equal micro-batches, sums their gradients and takes
// one step of the optimiser.
//
// The graph is that of one micro-batch: inputs are of the whole batch, and a window (Op::window) of each is what the network
// reads; gradients and the loss are added to sums that all micro-batches share (Storage::carried), the loss and with it every
// gradient divided by k. Nothing is unrolled: lowered, it is a loop around the forward and the backward pass
// (estimate::Program::microBatches), so that what is compiled and planned does not grow with k. Running statistics go from one
// micro-batch to the next; random numbers are those that the whole batch would draw, since an element's number counts from the
// batch's first sample.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

namespace tbem::graph {

/// Clause `accumulate`: into how many micro-batches it splits the batch. False after a report.
bool splitBatch(Elaborator& e, const ast::Expr& clause, const sema::Module& module, const std::vector<Local>& factors);

struct InputTensor {
  std::string name;
  tbem_dtype dtype = TBEM_F32;
  std::vector<ExprId> shape;
  SrcRange range;
};
/// An input of the shape `all`, of which the network reads one micro-batch at a time: that is returned.
TensorId addInputInParts(Elaborator& e, const InputTensor& part, std::vector<ExprId> all);
/// An input as a network reads it: the micro-batch at hand where `clause` splits the batch. Nothing after a report: it has not
/// the samples of the first input, or they do not split. `at`: the row's levels, for that.
std::optional<TensorId> addBatchInput(Elaborator& e, InputTensor input, SrcRange clause,
                                      const std::vector<std::pair<std::string, std::string>>& at);
/// The shape of which a micro-batch has this one.
std::vector<ExprId> shapeOfBatch(Elaborator& e, std::vector<ExprId> part);

/// An input, and how many samples it has: its first dimension. Nothing for one that has no dimensions.
struct InputSamples {
  std::string name;
  SrcRange range;
  std::optional<Rational> samples;
};

/// Whether the batch splits into `parts` equal parts, and every input has as many samples as the first. Reports what does not.
/// `levels`: of the row, for the report.
bool splitsEvenly(DiagnosticSink& sink, SrcRange clause, const std::vector<InputSamples>& inputs, std::int64_t parts,
                  const std::vector<std::pair<std::string, std::string>>& levels);
/// The inputs of a structure in a row; not the target, whose samples are those of the output.
std::vector<InputSamples> samplesOf(const Graph& graph, const sema::Values& values);

}  // namespace tbem::graph
