// What the calls of a network's text take in one row: the shape of each result, its FLOPs, its bytes.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::serve {

/// In bytes of the program's own text.
struct Piece {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A call of an operator, a block or an instance in the body of a declaration. A step may make it several times: in a loop, in a
/// block that is applied more than once. FLOPs and bytes are those of all times together.
struct CallCosts {
  Piece place;                  ///< "conv2d(x, out: 8)"; behind `|>` without what is piped
  Piece callee;                 ///< "conv2d"
  std::string name;             ///< of the declaration that is called: "conv2d"
  std::size_t times = 0;        ///< in one step, forward
  std::string shape;            ///< of the results of the first time: "[16, 64, 56, 56]", several as "[16, 4], [16]"
  std::string lastShape;        ///< of the last time; `shape` where they are equal
  std::string symbolic;         ///< of the first time, over the design's factors: "[batch, 64, 56, 56]"
  estimate::Count forward = 0;  ///< FLOPs
  estimate::Count backward = 0;
  std::uint64_t weights = 0;  ///< bytes of the weights that its operators read; a weight that it reads several times counts once
  std::uint64_t results = 0;  ///< bytes of the results
};

/// By place. A call that makes no operator, such as one of a block that returns its argument, is not among them; of results only
/// those that something reads. `row`: of the workspace's program, without recomputed activations.
std::vector<CallCosts> callCosts(const driver::Workspace& workspace, const graph::Row& row);

}  // namespace tbem::serve
