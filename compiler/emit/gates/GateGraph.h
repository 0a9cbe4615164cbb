// The graph of a row with gates, in which gates are operators like others: what they decide, and for which samples, are tensors
// that operators read and make. Framework-neutral; how such an operator is written, a dialect says.
//
//   form     operator     inputs                                      outputs
//   masks    skip         condition, [reached]                        decision
//            its join     decision, computed, left                    as in the network
//            exit         condition, value, inside, result            inside, result
//            exits' join  inside, result, last value                  as in the network
//   compact  skip         condition, [samples]; arms as they are
//            exit         condition, value, result, samples, live..   result, samples, live.. (the same tensors, fewer rows)
//            exits' join  result, samples, last value                 as in the network
//
// decision: 1, 0, or -1 where the sample does not come there. reached: which samples come there, as a decision of the gate before
// or as `inside`. inside: which samples have not left, a bool each. samples: the positions in the batch of the rows at hand.
// result: the values of those that have left, a row a sample of the batch. live: tensors with samples that are read behind the
// exit.
#pragma once

#include "compiler/emit/module/ModuleTree.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <tl/expected.hpp>

#include <map>
#include <vector>

namespace tbem::emit {

struct GateGraph {
  graph::Row row;  ///< its graph is the rewritten one; operators have the places that they had, `begin` behind them
  GateForm form{};
  std::vector<graph::OpId> begin;  ///< operators without inputs before all others: they make `inside` or `samples`, and `result`
  std::vector<char> hasSamples;    ///< by tensor: a row a sample
  graph::TensorId batch = graph::kNoTensor;             ///< an input of the network with samples
  std::map<graph::TensorId, graph::TensorId> resultOf;  ///< by `samples` behind an exit: `result` there
  /// masks: of a `skip` in an arm of another: at which decision of that, its second input, samples come there. Behind an exit the
  /// second input is `inside`.
  std::map<graph::OpId, bool> reachedWhere;
};

/// Whether the network has gates.
bool hasGates(const graph::Graph& graph);
/// The graph in this form. Refused are operators behind a gate that mix samples and, in the compact form, such as need as many
/// rows as the batch has.
tl::expected<GateGraph, Refusal> gateGraph(const graph::Row& row, GateForm form);

}  // namespace tbem::emit
