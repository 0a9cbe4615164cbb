// Classes as Python text.
#pragma once

#include "compiler/emit/python/Classes.h"

#include <string>

namespace tbem::emit {

/// The words of a framework in which a class is written.
struct ClassWords {
  std::string base;     ///< "nn.Module"
  std::string network;  ///< the network's: "nn.Module"
  std::string forward;  ///< "forward"
  std::string tensor;   ///< type of a tensor: "Tensor"; empty: types are not written
  std::string passed;   ///< an argument that forward passes hand down to the modules that take it: "training"; empty: none
  std::function<bool(const CallText& constructor)> takes;  ///< whether a module of the framework takes it
  bool isOneInput = false;                                 ///< several inputs of the network come as one list
  /// A weight that the forward pass reads: the module that holds it, such as "self.norm", and its name there.
  std::function<std::string(graph::TensorId tensor, const std::string& holder, std::string_view name)> weight;
  TakenWords taken;
};

/// All classes, two empty lines before each.
std::string classText(const graph::Graph& graph, const Classes& all, const ClassWords& words);

/// The expression of a call or operator whose operands are these names and whose holes are these texts.
std::string expressionText(const Code& code, const std::function<std::pair<std::string, Binding>(graph::TensorId)>& operand,
                           const std::vector<std::string>& holes);

}  // namespace tbem::emit
