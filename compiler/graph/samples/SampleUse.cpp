#include "compiler/graph/samples/SampleUse.h"

#include "compiler/graph/ir/Attributes.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

std::size_t rowDimension(const std::vector<std::int64_t>& shape) {
  return static_cast<std::size_t>(std::ranges::find_if(shape, [](std::int64_t size) { return size != 1; }) - shape.begin());
}

namespace {
class Use {
public:
  Use(const Op& o, const std::vector<std::vector<std::int64_t>>& d, const SampleRows& r, std::int64_t s,
      const std::vector<std::int64_t>& a)
      : op(o), dims(d), rows(r), samples(s), attributes(a) {}

  SampleUse run() {
    use.along.assign(op.inputs.size(), false);
    use.results.assign(op.outputs.size(), 0);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) use.follows = use.follows || has(i);
    if (!use.follows) return use;
    switch (op.kind) {
      case OpKind::Elementwise:
        elementwise();
        break;
      case OpKind::View:
        view();
        break;
      case OpKind::Native:
        native();
        break;
      default:
        break;
    }
    bool follows = false;  // the result has samples of its own, from an operand that it is computed along
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      follows = follows || (has(i) && use.along[i]);
      const bool isGathered = has(i) && !rows.isWhole[i];
      if (isGathered && !use.along[i] && use.mixes.empty()) use.mixes = "it reads samples as if they were weights";
    }
    if (!use.mixes.empty()) return use;
    if (!follows) return {false, std::vector<bool>(op.inputs.size(), false), std::move(use.results), {}, {}};
    for (std::size_t r = 0; r < op.outputs.size(); ++r) {
      const std::vector<std::int64_t>& shape = dims[index(op.outputs[r])];
      const std::size_t at = op.kind == OpKind::View ? rowDimension(shape) : 0;
      if (at < shape.size() && shape[at] % samples == 0) use.results[r] = shape[at] / samples;
      if (use.results[r] == 0) use.mixes = "its result has no samples";
    }
    return use;
  }

private:
  bool has(std::size_t input) const { return rows.each[input] > 0; }
  const std::vector<std::int64_t>& shapeOf(std::size_t input) const { return dims[index(op.inputs[input])]; }
  const std::vector<std::int64_t>& result() const { return dims[index(op.outputs[0])]; }

  void elementwise() {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const std::vector<std::int32_t>& axes = op.elementwise.operands[i].axes;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        if (axes[k] != 0 || shapeOf(i)[k] == 1) continue;
        if (k != 0) use.mixes = "it moves another dimension to the place of the samples";
        use.along[i] = true;
      }
    }
    for (const ElemNode& node : op.elementwise.nodes) {
      if (node.op == ElemOp::Random) use.byPlace = "its random numbers are drawn by place in the batch";
      if (node.op == ElemOp::Index && node.input == 0) use.byPlace = "it computes with the number of a sample";
    }
  }

  void view() {
    const std::size_t at = rowDimension(result());
    if (at == result().size() || result()[at] % samples != 0) use.mixes = "it reshapes the samples away";
    use.along[0] = true;
  }

  void native() {
    switch (op.primitive) {
      case TBEM_PRIMITIVE_conv2d:
      case TBEM_PRIMITIVE_max_pool2d:
      case TBEM_PRIMITIVE_avg_pool2d:
      case TBEM_PRIMITIVE_adaptive_avg_pool2d:
      case TBEM_PRIMITIVE_reorder:
        use.along[0] = true;
        break;
      case TBEM_PRIMITIVE_dense:
        use.along[0] = shapeOf(0).size() > 1;
        break;
      case TBEM_PRIMITIVE_matmul:
        matmul();
        break;
      case TBEM_PRIMITIVE_concat:
        use.along.assign(use.along.size(), true);
        if (attributes[0] == 0) use.mixes = "it joins samples one behind the other";
        break;
      case TBEM_PRIMITIVE_reduce_sum:
      case TBEM_PRIMITIVE_reduce_max:
        alongFirst(std::find(attributes.begin() + 1, attributes.end(), 0) != attributes.end(), "it reduces over the samples");
        break;
      case TBEM_PRIMITIVE_gather:
        gather();
        break;
      case TBEM_PRIMITIVE_arg_max:
        alongFirst(attributes[0] == 0, "it looks for the largest over the samples");
        break;
      case TBEM_PRIMITIVE_channel_moments:  // of layer_norm: rows are its channels, in a batch of one
        alongFirst(rowDimension(shapeOf(0)) != 1, "its moments are those of the whole batch");
        break;
      case TBEM_PRIMITIVE_softmax:
      case TBEM_PRIMITIVE_log_softmax:
        alongFirst(attributes[0] == 0, "it normalises over the samples");
        break;
      case TBEM_PRIMITIVE_permute:
        alongFirst(attributes[1] != 0, "it moves the samples to another dimension");
        break;
      case TBEM_PRIMITIVE_pad:
      case TBEM_PRIMITIVE_slice:
        alongFirst(attributes[1] != 0 || result()[0] != shapeOf(0)[0], "it adds or takes away samples");
        break;
      case TBEM_PRIMITIVE_conv2d_input_gradient:
      case TBEM_PRIMITIVE_conv2d_weight_gradient:
      case TBEM_PRIMITIVE_dense_input_gradient:
      case TBEM_PRIMITIVE_dense_weight_gradient:
      case TBEM_PRIMITIVE_sum_squares:
      case TBEM_PRIMITIVE_reduce_max_gradient:
      case TBEM_PRIMITIVE_channel_gradient_sums:
      case TBEM_PRIMITIVE_row_gradient_sums:
      case TBEM_PRIMITIVE_max_pool2d_gradient:
      case TBEM_PRIMITIVE_avg_pool2d_gradient:
      case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      case TBEM_PRIMITIVE_softmax_gradient:
      case TBEM_PRIMITIVE_log_softmax_gradient:
      case TBEM_PRIMITIVE_attention:
      case TBEM_PRIMITIVE_attention_gradient:
      case TBEM_PRIMITIVE_cross_entropy:
      case TBEM_PRIMITIVE_cross_entropy_gradient:
      case TBEM_PRIMITIVE_gather_gradient:
      case TBEM_PRIMITIVE_split_rows:
      case TBEM_PRIMITIVE_move_rows:
      case TBEM_PRIMITIVE_constant:
      case TBEM_PRIMITIVE_COUNT:
        use.mixes = "it is computed over the whole batch";
        break;
    }
  }

  /// Samples lie along the first input, unless the operator mixes them.
  void alongFirst(bool mixes, const char* how) {
    use.along[0] = true;
    if (mixes) use.mixes = how;
  }

  /// A call may run on more rows than there are samples left; what lies in those is no number of an element.
  void gather() {
    const bool picksRows = attributes[0] == 0;
    if (picksRows && has(1)) {
      use.along[1] = true;
      use.byPlace = "its numbers of elements are computed over the whole batch";
      return;
    }
    alongFirst(picksRows, "it picks among the samples");
    if (has(1)) use.byPlace = "its numbers of elements are computed over the whole batch";
  }

  void matmul() {
    const std::size_t rank = result().size();
    // Outer dimensions of fewer operands are repeated, as those of 1 are.
    const auto hasOuter = [&](std::size_t i) { return shapeOf(i).size() == rank && shapeOf(i).front() != 1; };
    use.along[0] = rank > 2 ? hasOuter(0) : attributes[0] == 0;
    use.along[1] = rank > 2 && hasOuter(1);
  }

  const Op& op;
  const std::vector<std::vector<std::int64_t>>& dims;
  const SampleRows& rows;
  std::int64_t samples;
  const std::vector<std::int64_t>& attributes;
  SampleUse use;
};
}  // namespace

SampleUse sampleUse(const Op& op, const std::vector<std::vector<std::int64_t>>& dims, const SampleRows& rows,
                    std::int64_t samples, const std::vector<std::int64_t>& attributes) {
  return Use(op, dims, rows, samples, attributes).run();
}

std::optional<SampleUse> sampleUse(const Op& op, const sema::Values& values, const std::vector<std::vector<std::int64_t>>& dims,
                                   const SampleRows& rows, std::int64_t samples) {
  std::vector<std::int64_t> attributes;
  if (op.primitive != TBEM_PRIMITIVE_COUNT) {
    std::string wrong;
    attributes = flattenAttributes(op, values, dims, wrong);
    if (!wrong.empty()) return std::nullopt;
  }
  return sampleUse(op, dims, rows, samples, attributes);
}

}  // namespace tbem::graph
