#include "compiler/graph/samples/SameAxes.h"

#include "compiler/graph/ir/Attributes.h"
#include "compiler/graph/samples/SampleUse.h"

#include <algorithm>
#include <span>
#include <string>

namespace tbem::graph {

namespace {
using Shape = std::vector<std::int64_t>;

bool holds(std::span<const std::int64_t> list, std::size_t number) {
  return std::ranges::find(list, static_cast<std::int64_t>(number)) != list.end();
}
}  // namespace

class SameAxes::Builder {
public:
  Builder(SameAxes& axes, const sema::Values& values, const std::vector<Shape>& dims) : axes(axes), values(values), dims(dims) {
    for (const Shape& shape : dims) {
      axes.first.push_back(axes.parent.size());
      for (std::size_t k = 0; k < shape.size(); ++k) axes.parent.push_back(axes.parent.size());
      axes.rows.push_back(axes.rows.size());
    }
  }

  void visit(const Op& op) {
    switch (op.kind) {
      case OpKind::Elementwise:
        elementwise(op);
        break;
      case OpKind::View:
        view(op.inputs[0], op.outputs[0]);
        break;
      case OpKind::Native:
        if (op.own.symbol.empty()) native(op);
        break;
      case OpKind::Exit:
        join({op.inputs[0], 0}, {op.inputs[1], 0});
        break;
      case OpKind::Join:
        for (const TensorId input : op.inputs) allAxes(input, op.outputs[0]);
        break;
      default:
        break;
    }
  }

private:
  const Shape& shape(TensorId tensor) const { return dims[index(tensor)]; }

  /// Dimensions of different sizes, or of 1, count different things. `b` is mostly new: under `a` the trees stay flat.
  void join(Axis a, Axis b) {
    const Shape &of = shape(a.tensor), &other = shape(b.tensor);
    if (a.dimension >= of.size() || b.dimension >= other.size()) return;
    if (of[a.dimension] != other[b.dimension] || of[a.dimension] == 1) return;
    unite(axes.parent, axes.first[index(a.tensor)] + a.dimension, axes.first[index(b.tensor)] + b.dimension);
    if (a.dimension == rowDimension(of) && b.dimension == rowDimension(other)) unite(axes.rows, index(a.tensor), index(b.tensor));
  }
  static void unite(std::vector<std::size_t>& forest, std::size_t a, std::size_t b) { forest[root(forest, b)] = root(forest, a); }
  /// The dimensions [0, count) of both.
  void leading(TensorId a, TensorId b, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) join({a, k}, {b, k});
  }
  void allAxes(TensorId a, TensorId b) { leading(a, b, std::min(shape(a).size(), shape(b).size())); }

  void elementwise(const Op& op) {
    for (const TensorId result : op.outputs) {
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const std::vector<std::int32_t>& at = op.elementwise.operands[i].axes;
        for (std::size_t k = 0; k < at.size(); ++k) {
          if (at[k] >= 0) join({op.inputs[i], k}, {result, static_cast<std::size_t>(at[k])});
        }
      }
    }
  }

  /// The same elements in row-major order: dimensions are the same where as many elements lie before and behind them.
  void view(TensorId from, TensorId to) {
    const std::size_t at = rowDimension(shape(from)), atResult = rowDimension(shape(to));
    if (at < shape(from).size() && atResult < shape(to).size()) {
      const auto [fewer, more] = std::minmax(shape(from)[at], shape(to)[atResult]);
      if (more % fewer == 0) unite(axes.rows, index(from), index(to));  // each row is several, or several are one
    }
    std::int64_t before = 1, beforeResult = 1;
    std::size_t j = 0;
    for (std::size_t i = 0; i < shape(from).size(); ++i) {
      while (j < shape(to).size() && (beforeResult < before || shape(to)[j] == 1)) beforeResult *= shape(to)[j++];
      if (before == beforeResult) join({from, i}, {to, j});
      before *= shape(from)[i];
    }
  }

  void native(const Op& op) {
    const TensorId x = op.inputs.empty() ? kNoTensor : op.inputs[0], y = op.outputs[0];
    if (x == kNoTensor || y == kNoTensor) return;
    const std::size_t rank = shape(x).size(), resultRank = shape(y).size();
    std::string wrong;
    const std::vector<std::int64_t> attributes = flattenAttributes(op, values, dims, wrong);
    if (!wrong.empty()) return;  // lowering says what
    switch (op.primitive) {
      case TBEM_PRIMITIVE_dense:
        return leading(x, y, rank - 1);
      case TBEM_PRIMITIVE_matmul:
        return matmul(op, attributes);
      case TBEM_PRIMITIVE_concat:
        for (const TensorId part : op.inputs) allAxesBut(part, y, static_cast<std::size_t>(attributes[0]));
        return;
      case TBEM_PRIMITIVE_reduce_sum:
      case TBEM_PRIMITIVE_reduce_max:
        return dropping(x, y, std::span(attributes).subspan(1));
      case TBEM_PRIMITIVE_arg_max:
        return dropping(x, y, std::span(attributes).first(1));
      case TBEM_PRIMITIVE_gather:
        return gather(op, static_cast<std::size_t>(attributes[0]));
      case TBEM_PRIMITIVE_permute:
        for (std::size_t k = 0; k < resultRank; ++k) join({x, static_cast<std::size_t>(attributes[1 + k])}, {y, k});
        return;
      case TBEM_PRIMITIVE_softmax:
      case TBEM_PRIMITIVE_log_softmax:
      case TBEM_PRIMITIVE_reorder:
      case TBEM_PRIMITIVE_pad:
      case TBEM_PRIMITIVE_slice:
        return allAxes(x, y);
      case TBEM_PRIMITIVE_conv2d:
      case TBEM_PRIMITIVE_max_pool2d:
      case TBEM_PRIMITIVE_avg_pool2d:
      case TBEM_PRIMITIVE_adaptive_avg_pool2d:
        return leading(x, y, 1);
      case TBEM_PRIMITIVE_channel_moments:
        return join({x, 1}, {y, 0});
      default:
        return;  // its results have no rows of its operands
    }
  }

  void allAxesBut(TensorId a, TensorId b, std::size_t but) {
    for (std::size_t k = 0; k < shape(a).size(); ++k) {
      if (k != but) join({a, k}, {b, k});
    }
  }
  void dropping(TensorId x, TensorId y, std::span<const std::int64_t> dropped) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < shape(x).size(); ++k) {
      if (!holds(dropped, k)) join({x, k}, {y, to++});
    }
  }
  /// The index's dimensions take the place of the axis.
  void gather(const Op& op, std::size_t axis) {
    const TensorId x = op.inputs[0], numbers = op.inputs[1], y = op.outputs[0];
    leading(x, y, axis);
    const std::size_t taken = shape(numbers).size();
    for (std::size_t k = 0; k < taken; ++k) join({numbers, k}, {y, axis + k});
    for (std::size_t k = axis + 1; k < shape(x).size(); ++k) join({x, k}, {y, k - 1 + taken});
  }
  void matmul(const Op& op, const std::vector<std::int64_t>& transposed) {
    const TensorId a = op.inputs[0], b = op.inputs[1], y = op.outputs[0];
    const std::size_t outer = shape(y).size() - 2;
    for (const TensorId operand : {a, b}) {  // outer dimensions of fewer stand behind those of the result
      const std::size_t own = shape(operand).size() - 2;
      for (std::size_t k = 0; k < own; ++k) join({operand, k}, {y, outer - own + k});
    }
    join({a, shape(a).size() - (transposed[0] != 0 ? 1 : 2)}, {y, outer});
    join({b, shape(b).size() - (transposed[1] != 0 ? 2 : 1)}, {y, outer + 1});
  }

  SameAxes& axes;
  const sema::Values& values;
  const std::vector<Shape>& dims;
};

SameAxes::SameAxes(const Graph& graph, const sema::Values& values, const std::vector<Shape>& dims) {
  Builder builder(*this, values, dims);
  for (const Op& op : graph.ops) builder.visit(op);
}

std::size_t SameAxes::root(const std::vector<std::size_t>& forest, std::size_t at) {
  while (forest[at] != at) at = forest[at];
  return at;
}

}  // namespace tbem::graph
