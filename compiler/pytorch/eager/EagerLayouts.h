// In what order the elements of tensors lie in memory, and what eager PyTorch copies because of it. Internal to this folder.
#pragma once

#include "compiler/pytorch/eager/EagerOperators.h"
#include "compiler/pytorch/eager/Strides.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tbem::estimate {

class EagerLayouts {
public:
  /// The graph and the shapes, by its tensors, outlive this.
  EagerLayouts(const graph::Graph& graph, EagerDevice device, const std::vector<Shape>& shapes)
      : graph(graph), device(device), shapes(shapes), strides(graph.tensors.size()) {}

  /// For another row, whose shapes are there.
  void clear() { std::ranges::fill(strides, Strides()); }
  /// Sets what the operator's results have, and says what it copies. `first` is its first operator of the graph; `around` what
  /// declares the block that calls it. Operators come in the order in which they run.
  void follow(const EagerOperator& op, const graph::Op& first, std::string_view around, const sema::Values& values,
              EagerSizes& sizes);

private:
  Strides& at(graph::TensorId tensor) { return strides[graph::index(tensor)]; }
  const Shape& shape(graph::TensorId tensor) const { return shapes[graph::index(tensor)]; }
  /// Of an operand, which is row-major where nothing says otherwise.
  const Strides& of(graph::TensorId operand);
  /// Of one of the results.
  Strides made(const EagerOperator& op, graph::TensorId result, const graph::Op& first, const sema::Values& values);
  Strides ofAttention(graph::TensorId query, graph::TensorId result, std::string_view around);
  void copyFactors(const EagerOperator& op, EagerSizes& sizes);
  void alignMask(const EagerOperator& op, EagerSizes& sizes);
  bool isCopied(graph::TensorId factor, const Shape& whole, const Shape& batch);

  const graph::Graph& graph;
  EagerDevice device;
  const std::vector<Shape>& shapes;
  std::vector<Strides> strides;  ///< by graph tensor
};

}  // namespace tbem::estimate
