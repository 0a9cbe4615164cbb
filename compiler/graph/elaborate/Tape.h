// What a forward pass leaves for its differentiation: what each operator was made from, and which bodies say their gradient.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::graph {

/// Names for the dimensions of a tensor: "n", "s#0"; "" where the declaration gives none.
using Labels = std::vector<std::string>;

/// What an operator was made from. Its gradient is evaluated among the same names, which are taken over from here.
struct OpContext {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<sema::Local> locals;
  std::vector<std::pair<std::string_view, Labels>> labels;
  std::string path;
};

/// A body with a gradient of its own: operators [first, last] are not differentiated one by one.
struct OwnGradient {
  std::size_t first = 0, last = 0;
  OpContext context;
  std::vector<TensorId> inputs;  ///< that its `backward` names
  std::vector<TensorId> outputs;
};

/// What multiplies the loss of a step before its gradients go back (differentiate/LossScale.h): scalars that outlive the step, as
/// the states of optimisers do; their values before it.
struct LossScale {
  TensorId scale = kNoTensor;
  TensorId good = kNoTensor;   ///< steps with finite gradients since the scale last moved
  TensorId taken = kNoTensor;  ///< all steps with finite gradients: what optimisers count as `step`
};

struct Tape {
  std::vector<OpContext> contexts;        ///< by OpId; empty for those of no declaration, and no longer than need be
  std::vector<OwnGradient> ownGradients;  ///< inner ones before those that hold them
  std::optional<LossScale> lossScale;     ///< once the gradients of a scaled loss are begun

  void note(OpId id, OpContext context) {
    contexts.resize(index(id) + 1);
    contexts.back() = std::move(context);
  }
  /// nullptr: of no declaration, such as a copy.
  OpContext* contextOf(OpId id) {
    return index(id) < contexts.size() && contexts[index(id)].decl != nullptr ? &contexts[index(id)] : nullptr;
  }
  /// The outermost body that ends with this operator; nullptr: none does.
  OwnGradient* endingAt(std::size_t last) {
    const auto own =
        std::find_if(ownGradients.rbegin(), ownGradients.rend(), [&](const OwnGradient& body) { return body.last == last; });
    return own != ownGradients.rend() ? &*own : nullptr;
  }
};

}  // namespace tbem::graph
