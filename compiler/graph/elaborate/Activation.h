// What is applied while a graph is built: declarations, callables that own weights, an optimiser. Internal to compiler/graph.
#pragma once

#include "compiler/graph/elaborate/Tape.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <string>
#include <string_view>
#include <unordered_map>
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

/// What has a path in the network, so that a shared block that is applied again finds it.
struct Owned {
  std::vector<Instance> instances;
  std::unordered_map<std::string, std::uint32_t> instanceByPath;
  std::unordered_map<std::string, TensorId> weightByPath;  ///< and buffers and states
  std::unordered_map<std::uint32_t, TensorId> latest;      ///< of a buffer's or state's storage: its newest value
};

/// `let name = value`: an instance that this expression makes bears the name.
struct GivenName {
  const ast::Expr* value = nullptr;
  std::string name;
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

/// A call in a gradient, and what it gave.
struct GradientCall {
  const ast::Callable* decl = nullptr;
  std::vector<sema::Value> tensors, parameters;
  sema::Value result;
};

/// The optimiser of a training step, with its parameters.
struct UpdateRule {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<sema::Local> parameters;  ///< a schedule is a scalar tensor by now, one for all weights
  SrcRange use;
  bool applied = false;  ///< to a weight
};

/// A name of an activation's frame, by position, as an operand of an element-wise expression.
struct Operand {
  std::size_t local = 0;
  sema::Value element;
};

/// While it lives, names of a frame's tensors mean operands of the element-wise expression that is built; those that are defined
/// meanwhile go with it.
class ElementNames {
public:
  ElementNames(sema::Frame& frame, std::vector<Operand> operands)
      : frame(frame), operands(std::move(operands)), before(frame.locals.size()) {
    swap();
    frame.elementwise = true;
  }
  ~ElementNames() {
    frame.locals.resize(before);
    swap();
    frame.elementwise = false;
  }
  ElementNames(const ElementNames&) = delete;
  ElementNames& operator=(const ElementNames&) = delete;

  /// The name, if it was there before.
  sema::Local* of(std::string_view name) const {
    sema::Local* const local = frame.find(name);
    return local != nullptr && static_cast<std::size_t>(local - frame.locals.data()) < before ? local : nullptr;
  }

private:
  void swap() {
    for (Operand& operand : operands) std::swap(frame.locals[operand.local].value, operand.element);
  }

  sema::Frame& frame;
  std::vector<Operand> operands;
  std::size_t before;
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
