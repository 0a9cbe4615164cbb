// Classes as Python text.
#pragma once

#include "compiler/emit/python/Classes.h"

#include <functional>
#include <map>
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
  /// Whether a module that is given the tensor calls it by the tensor's name, though it declares none.
  std::function<bool(graph::TensorId)> isNamed = [](graph::TensorId) { return false; };
  /// In the network: what it gives at once where a tensor of those that are listed has no rows.
  std::map<graph::TensorId, graph::TensorId> givenWithoutRows;
};

/// All classes, two empty lines before each.
std::string classText(const graph::Graph& graph, const Classes& all, const ClassWords& words);

}  // namespace tbem::emit
