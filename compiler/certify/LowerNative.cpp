#include "compiler/certify/Lowering.h"

#include <algorithm>

namespace tbem::certify {

std::vector<std::int64_t> Operator::attribute(std::size_t k) const {
  std::vector<std::int64_t> values;
  for (const graph::ExprId value : op.attributes[k].values) values.push_back(row.values.integer(value));
  return values;
}

namespace {

using Dims = std::vector<std::int64_t>;
using Source = StepBuilder::Source;
using Groups =
    std::vector<std::vector<std::size_t>>;  ///< by element of the result: elements of the operand, all in row-major order

/// How many maxima of two, one behind the other, stand for one of many.
constexpr std::size_t kMaxima = 1024;

std::size_t elements(const Dims& dims) { return Shape::of(dims).count(); }

/// What the windows of a pooling reach of the image.
Groups windows(const Dims& in, const Dims& out, const Operator& op) {
  const Dims kernel = op.attribute(0), stride = op.attribute(1), pad = op.attribute(2);
  Groups groups(elements(out));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Dims at = coordinates(out, i);
    for (std::int64_t t = 0; t < kernel[0] * kernel[1]; ++t) {
      const std::int64_t row = at[2] * stride[0] - pad[0] + t / kernel[1], column = at[3] * stride[1] - pad[1] + t % kernel[1];
      if (row >= 0 && row < in[2] && column >= 0 && column < in[3])
        groups[i].push_back(rowMajor(in, {at[0], at[1], row, column}));
    }
  }
  return groups;
}

/// What the bins of an adaptive pooling cover.
Groups bins(const Dims& in, const Dims& out) {
  Groups groups(elements(out));
  const auto bin = [&](std::size_t axis, std::int64_t i) {
    return std::pair(i * in[axis] / out[axis], ((i + 1) * in[axis] + out[axis] - 1) / out[axis]);
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Dims at = coordinates(out, i);
    const auto [top, bottom] = bin(2, at[2]);
    const auto [left, right] = bin(3, at[3]);
    for (std::int64_t row = top; row < bottom; ++row) {
      for (std::int64_t column = left; column < right; ++column) groups[i].push_back(rowMajor(in, {at[0], at[1], row, column}));
    }
  }
  return groups;
}

Groups reduced(const Dims& in, const Dims& out, const Dims& axes) {
  Groups groups(elements(out));
  for (std::size_t i = 0; i < elements(in); ++i) {
    Dims at = coordinates(in, i), kept;
    for (std::size_t k = 0; k < at.size(); ++k)
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) == axes.end()) kept.push_back(at[k]);
    groups[rowMajor(out, kept)].push_back(i);
  }
  return groups;
}

/// The numbers of a constant in row-major order, where each is known to the last bit; empty otherwise.
std::vector<double> exact(const Steps& steps, ValueId id) {
  if (!steps.isConstant(id)) return {};
  const Step& step = steps[id];
  std::vector<double> numbers(step.shape.count());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Interval value = step.constant.at(step.shape.place(i));
    if (!(value.low == value.high)) return {};
    numbers[i] = value.low;
  }
  return numbers;
}

class Native {
public:
  Native(StepBuilder& to, const Operator& op) : to(to), op(op) {
    for (const graph::TensorId input : op.op.inputs) in.push_back(input == graph::kNoTensor ? Dims{} : op.dims(input));
    if (op.op.outputs.front() != graph::kNoTensor) out = op.dims(op.op.outputs.front());
  }

  ValueId run() {
    switch (op.op.primitive) {
      case TBEM_PRIMITIVE_conv2d:
        return convolution();
      case TBEM_PRIMITIVE_dense:
        return dense();
      case TBEM_PRIMITIVE_max_pool2d:
        return largest(windows(in[0], out, op));
      case TBEM_PRIMITIVE_avg_pool2d:
        return averages();
      case TBEM_PRIMITIVE_adaptive_avg_pool2d:
        return means(bins(in[0], out));
      case TBEM_PRIMITIVE_reduce_sum:
        return sums(reduced(in[0], out, op.attribute(0)), std::vector<double>(elements(out), 1.0));
      case TBEM_PRIMITIVE_reduce_max:
        return maximum();
      case TBEM_PRIMITIVE_softmax:
        return softmax();
      case TBEM_PRIMITIVE_permute:
      case TBEM_PRIMITIVE_pad:
      case TBEM_PRIMITIVE_slice:
        return moved();
      case TBEM_PRIMITIVE_concat:
        return concatenated();
      case TBEM_PRIMITIVE_constant:
        return values();
      default:
        return unsupported();
    }
  }

private:
  ValueId unsupported() {
    std::vector<ValueId> inputs;
    std::copy_if(op.inputs.begin(), op.inputs.end(), std::back_inserter(inputs), [](ValueId id) { return id != kHole; });
    return to.unsupported(out, op.op.declaration, std::move(inputs));
  }

  /// `weights` as [group x output][input][kh][kw].
  ValueId convolved(Convolution c, const std::vector<double>& weights) {
    if (weights.empty()) return unsupported();
    if (op.inputs.size() > 2 && op.inputs[2] != kHole) {
      c.bias = exact(to.steps, op.inputs[2]);
      if (c.bias.empty()) return unsupported();
    }
    c.weights.resize(weights.size());
    c.transposed.resize(weights.size());
    const std::int64_t inputs = c.inputs(), outputs = c.outputs(), taps = c.kh * c.kw;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(weights.size()); ++i) {
      const std::int64_t tap = i % taps, input = i / taps % inputs, output = i / taps / inputs % outputs;
      const std::int64_t block = (tap * c.groups + i / taps / inputs / outputs) * inputs * outputs;
      c.weights[static_cast<std::size_t>(block + input * outputs + output)] = weights[static_cast<std::size_t>(i)];
      c.transposed[static_cast<std::size_t>(block + output * inputs + input)] = weights[static_cast<std::size_t>(i)];
    }
    Step step;
    step.kind = StepKind::Convolve;
    step.inputs = {op.inputs[0]};
    step.shape = Shape::of(out);
    step.convolution = std::move(c);
    return to.add(std::move(step));
  }

  ValueId convolution() {
    if (in[0][0] != 1) return unsupported();  // several images of a sample
    const Dims stride = op.attribute(0), pad = op.attribute(1), dilation = op.attribute(2);
    Convolution c;
    c.c = in[0][1], c.h = in[0][2], c.w = in[0][3];
    c.o = out[1], c.oh = out[2], c.ow = out[3];
    c.kh = in[1][2], c.kw = in[1][3];
    c.strideH = stride[0], c.strideW = stride[1];
    c.top = pad[0], c.left = pad[1];
    c.dilationH = dilation[0], c.dilationW = dilation[1];
    c.groups = op.attribute(3)[0];
    return convolved(std::move(c), exact(to.steps, op.inputs[1]));
  }

  ValueId dense() {
    if (in[0].size() == 4) return unsupported();  // its rows are an image's, which are kept otherwise
    Convolution c;
    c.c = in[0].back();
    c.o = out.back();
    c.h = c.oh = static_cast<std::int64_t>(elements(in[0])) / c.c;
    return convolved(std::move(c), exact(to.steps, op.inputs[1]));
  }

  // ---- Sums and maxima ------------------------------------------------------------------------------------------------

  ValueId sums(const Groups& groups, const std::vector<double>& scale) {
    Step step;
    step.kind = StepKind::Sums;
    step.inputs = {op.inputs[0]};
    step.shape = Shape::of(out);
    step.scale.resize(groups.size());
    std::vector<std::size_t> from(groups.size());  // the group of each element where it is kept
    for (std::size_t i = 0; i < groups.size(); ++i) from[step.shape.place(i)] = i;
    step.offsets.push_back(0);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const std::size_t element : groups[from[i]])
        step.index.push_back(static_cast<std::uint32_t>(to.shape(op.inputs[0]).place(element)));
      step.offsets.push_back(static_cast<std::uint32_t>(step.index.size()));
      step.scale[i] = scale[from[i]];
    }
    return to.add(std::move(step));
  }

  ValueId means(const Groups& groups) {
    std::vector<double> scale;
    for (const std::vector<std::size_t>& group : groups) scale.push_back(1 / static_cast<double>(group.size()));
    return sums(groups, scale);
  }

  ValueId averages() {
    const Dims kernel = op.attribute(0);
    const Groups groups = windows(in[0], out, op);
    if (op.attribute(3)[0] == 0) return means(groups);
    return sums(groups, std::vector<double>(groups.size(), 1 / static_cast<double>(kernel[0] * kernel[1])));
  }

  /// The largest of each group, as maxima of two; in a group that is smaller than others some element comes again.
  ValueId largest(const Groups& groups) {
    std::size_t most = 0;
    for (const std::vector<std::size_t>& group : groups) most = std::max(most, group.size());
    if (most == 0 || most > kMaxima) return unsupported();
    const auto take = [&](std::size_t k) {
      return to.gather({op.inputs[0]}, out, [&](std::size_t i) { return Source(0, groups[i][k % groups[i].size()]); });
    };
    ValueId result = take(0);
    for (std::size_t k = 1; k < most; ++k) result = to.add(StepKind::Maximum, {result, take(k)}, out);
    return result;
  }

  /// The largest element of a softmax has bounds of its own.
  ValueId maximum() {
    const Groups groups = reduced(in[0], out, op.attribute(0));
    const Step& operand = to.steps[op.inputs[0]];
    if (operand.kind != StepKind::Softmax || groups.size() != 1) return largest(groups);
    return to.add(StepKind::Confidence, {operand.inputs[0]}, out);
  }

  ValueId softmax() {
    const auto along = in[0][static_cast<std::size_t>(op.attribute(0)[0])];
    if (static_cast<std::size_t>(along) != elements(in[0])) return unsupported();
    return to.add(StepKind::Softmax, {op.inputs[0]}, out);
  }

  // ---- What only moves elements ---------------------------------------------------------------------------------------

  ValueId moved() {
    const Dims first = op.attribute(0);
    const Dims second = op.op.primitive == TBEM_PRIMITIVE_permute ? Dims{} : op.attribute(1);
    return to.gather({op.inputs[0]}, out, [&](std::size_t i) {
      const Dims at = coordinates(out, i);
      Dims from(at.size());
      for (std::size_t k = 0; k < at.size(); ++k) {
        if (op.op.primitive == TBEM_PRIMITIVE_permute) {
          from[static_cast<std::size_t>(first[k])] = at[k];
        } else if (op.op.primitive == TBEM_PRIMITIVE_slice) {
          from[k] = first[k] + second[k] * at[k];
        } else {
          const std::int64_t inside = at[k] - first[k];
          from[k] = inside / (second[k] + 1);
          if (inside < 0 || inside % (second[k] + 1) != 0 || from[k] >= in[0][k]) return Source(kHole, 0);
        }
      }
      return Source(0, rowMajor(in[0], from));
    });
  }

  ValueId concatenated() {
    const auto axis = static_cast<std::size_t>(op.attribute(0)[0]);
    return to.gather(op.inputs, out, [&](std::size_t i) {
      Dims at = coordinates(out, i);
      std::uint32_t k = 0;
      while (at[axis] >= in[k][axis]) at[axis] -= in[k++][axis];
      return Source(k, rowMajor(in[k], at));
    });
  }

  ValueId values() {
    const bool wide = to.steps.arithmetic.unit == kUnit;
    std::vector<double> numbers;
    for (const graph::ExprId value : op.op.scalars) {
      const double number = op.row.values[value].toDouble();
      numbers.push_back(wide ? number : static_cast<double>(static_cast<float>(number)));
    }
    return to.constant(out, numbers);
  }

  StepBuilder& to;
  const Operator& op;
  std::vector<Dims> in;
  Dims out;
};

}  // namespace

std::vector<ValueId> lowerNative(StepBuilder& to, const Operator& op) {
  std::vector<ValueId> results;
  if (op.op.outputs.size() == 1 && op.op.own.library.empty() && op.op.own.symbol.empty()) return {Native(to, op).run()};
  std::vector<ValueId> inputs;
  std::copy_if(op.inputs.begin(), op.inputs.end(), std::back_inserter(inputs), [](ValueId id) { return id != kHole; });
  for (const graph::TensorId output : op.op.outputs)
    results.push_back(output == graph::kNoTensor ? kHole : to.unsupported(op.dims(output), op.op.declaration, inputs));
  return results;
}

}  // namespace tbem::certify
