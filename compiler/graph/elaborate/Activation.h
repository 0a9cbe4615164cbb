// What is applied while a graph is built: declarations, callables that own weights, an optimiser. Internal to compiler/graph.
#pragma once

#include "compiler/graph/elaborate/Tape.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::graph {

/// A callable with its parameters, that owns weights.
struct Instance {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<sema::Local> parameters;
  std::string path;
  SrcRange range;
  std::vector<sema::BoundArgument> byPosition;  ///< the parameters given so, where it was made
};

/// A declaration that is about to be applied to tensors.
struct Application {
  const ast::Callable& decl;
  const sema::Module& module;
  std::vector<sema::Local> parameters;
  std::vector<sema::Value> tensors;
  std::string path;
  SrcRange use;
};

/// The optimiser of a training step, with its parameters.
struct UpdateRule {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<sema::Local> parameters;  ///< a schedule is a scalar tensor by now, one for all weights
  SrcRange use;
};

/// One application of a declaration.
struct Activation {
  sema::Frame frame;
  const ast::Callable* decl = nullptr;
  std::string path;
  ScopeId scope{};
  SrcRange use;                  ///< the call
  SrcRange range;                ///< the innermost call in the user's own text that led here
  int rank = 0;                  ///< whose text `range` is: 2 the user's, 1 a standard network's, 0 std.nn's
  bool gradient = false;         ///< a `backward` clause is being evaluated
  TensorId culprit = kNoTensor;  ///< the first tensor given to it
  tbem_dtype dtype = TBEM_F32;   ///< of `tensor[...]` in it
  std::vector<std::pair<std::string_view, Labels>> labels;
  const Labels* labelsOf(std::string_view name) const;
};

}  // namespace tbem::graph
