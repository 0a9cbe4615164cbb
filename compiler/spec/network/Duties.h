// What must hold of a structure whatever the values of its symbols are.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <string>
#include <vector>

namespace tbem::spec {

/// A condition, or that a dimension is a whole number above 0.
struct Duty {
  sema::ExprId expr{};  ///< the condition; or the dimension
  bool isDimension = false;
  std::string subject;  ///< "conv2d"; of a dimension, its tensor
  std::string text;     ///< as the user wrote it; empty for a dimension
  SrcRange range, use;  ///< the condition, the call that must meet it
};

/// What was neither shown nor refuted: it is checked whenever the network is built.
struct Doubt {
  std::string subject, text;  ///< "conv2d", "h >= 3"
  SrcRange use;
  std::string reason;
};

/// All of a structure, each expression once: its conditions in order, then the dimensions of its tensors.
std::vector<Duty> dutiesOf(const graph::Structure& structure);

/// What must hold, in words. Texts of nested dimensions are long: made where one is needed.
std::string textOf(const sema::ExprPool& pool, const Duty& duty);

}  // namespace tbem::spec
