// State of one differentiation. Internal to this folder.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <unordered_map>
#include <vector>

namespace tbem::graph {

struct Elaborator::Differentiation {
  std::size_t forwardOps = 0;      ///< operators before this position are the forward pass
  std::vector<TensorId> gradient;  ///< by forward tensor: its gradient so far
  std::vector<bool> needed;        ///< by forward tensor
  std::vector<int> uses;           ///< by weight: forward operators that read it and are not yet differentiated
  std::unordered_map<std::uint32_t, std::size_t> weightOf;  ///< by tensor: its position in Graph::weights
  std::vector<std::size_t> finished;                        ///< weights whose gradient is complete, in that order
  const ast::Callable* optimizer = nullptr;
  const sema::Module* optimizerModule = nullptr;
  std::vector<Local> optimizerParameters;
  SrcRange optimizerUse;
};

}  // namespace tbem::graph
