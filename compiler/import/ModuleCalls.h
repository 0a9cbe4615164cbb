// The calls of a model's modules as a tree: nodes that one call of a module makes follow each other.
#pragma once

#include "compiler/import/Exported.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tbem::imports {

struct ModuleCall;

/// A step of a module's forward pass: the call of a module inside, or a node.
struct ModuleItem {
  std::unique_ptr<ModuleCall> child;
  ValueId node{};
};

struct ModuleCall {
  std::string path;  ///< of the module: "layer1.0"; of the model: ""
  std::string kind;  ///< its class, with its Python module
  std::vector<ModuleItem> items;
  /// Made outside and read inside, in the order of reading; of weights those that are read outside, too; no constants.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  ///< made inside and read outside, in the order of the graph

  /// Children by position, as a Sequential has them.
  bool isSequence() const;
};

/// The values that a node reads, in the order of its arguments, each as often as it is read.
std::vector<ValueId> operandsOf(const Value& node);

/// How often each value is read, by nodes and as a result of the model.
std::vector<std::size_t> readCounts(const Exported& exported);

/// The model's call with all others inside.
std::unique_ptr<ModuleCall> moduleCalls(const Exported& exported);

}  // namespace tbem::imports
