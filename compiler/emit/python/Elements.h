// Operators of the graph that stand in no call that a framework has: element-wise expressions of a program's own operators,
// views.
#pragma once

#include "compiler/emit/python/Code.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <functional>
#include <string>
#include <string_view>

namespace tbem::emit {

/// A framework's words in element-wise expressions. In patterns, {0}, {1} and {2} stand for what the comment lists; an expression
/// that a pattern begins with holds together as an atom.
struct ElementWords {
  std::string_view framework;  ///< "PyTorch"
  std::string_view prefix;     ///< of functions that are called as here: "torch."
  std::string_view power;      ///< "torch.pow"
  std::string_view full;       ///< a tensor of one number: shape, number, type
  std::string_view broadcast;  ///< expression, shape
  std::string_view kept = {};  ///< in that shape: the size that the expression has; empty: it is said
  std::string_view cast;       ///< expression, type
  std::string_view atLeast;    ///< expression, number
  std::string_view atMost;     ///< expression, number
  std::string_view random;     ///< shape
  std::string_view permuted;   ///< expression, axes without parentheses
  std::string_view range;      ///< 0, 1, .. below: size, type
  std::string_view reshaped;   ///< expression, sizes without parentheses, a comma where there is one size
  std::string_view scalar;     ///< sizes of a tensor without dimensions, as `reshaped` wants them
  std::string (*type)(tbem_dtype);
  bool promotes;  ///< whether whole numbers beside real ones become such
};

/// The text of a tensor that an expression reads, with its dimensions in our order.
using OperandText = std::function<Marked(graph::TensorId tensor, Binding least)>;

/// The operator's expression, or why there is none.
tl::expected<Code, Refusal> elementCode(const graph::Row& row, const graph::Op& op, const ElementWords& words,
                                        const OperandText& operand, Scribe& scribe);

}  // namespace tbem::emit
