// The optimiser of a training step, with its parameters.
#pragma once

#include "compiler/sema/evaluate/Evaluator.h"

#include <vector>

namespace tbem::graph {

struct UpdateRule {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<sema::Local> parameters;  ///< a schedule is a scalar tensor by now, one for all weights
  SrcRange use;
};

}  // namespace tbem::graph
