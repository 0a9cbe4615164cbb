#include "compiler/certify/StepBuilder.h"

#include <algorithm>

namespace tbem::certify {

std::vector<std::int64_t> coordinates(const std::vector<std::int64_t>& dims, std::size_t i) {
  std::vector<std::int64_t> at(dims.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t k = dims.size(); k-- > 0;) {
    at[k] = rest % dims[k];
    rest /= dims[k];
  }
  return at;
}

std::size_t rowMajor(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& at) {
  std::int64_t number = 0;
  for (std::size_t k = 0; k < dims.size(); ++k) number = number * dims[k] + at[k];
  return static_cast<std::size_t>(number);
}

/// The Affine of an operation of a value and a constant; of a chain that the value ends, a longer one.
Step StepBuilder::chained(Step step) const {
  const bool first = steps.isConstant(step.inputs[0]);
  Link link{step.kind, first, steps[step.inputs[first ? 0 : 1]].constant};
  const ValueId from = step.inputs[first ? 1 : 0];
  const bool longer = steps[from].kind == StepKind::Affine && steps[from].branch == branch;
  if (longer) {
    Shape shape = std::move(step.shape);
    step = steps[from];
    step.shape = std::move(shape);
  } else {
    step.kind = StepKind::Affine;
    step.inputs = {from};
    step.scale.assign(step.shape.count(), 1);
    step.shift.assign(step.shape.count(), 0);
  }
  for (std::size_t i = 0; i < step.scale.size(); ++i) {
    const double k = 0.5 * link.constant.low[i] + 0.5 * link.constant.high[i];
    const double sign = link.kind == StepKind::Subtract && first ? -1 : 1;
    step.scale[i] *= link.kind == StepKind::Multiply ? k : sign;
    step.shift[i] *= link.kind == StepKind::Multiply ? k : sign;
    if (link.kind != StepKind::Multiply) step.shift[i] += link.kind == StepKind::Subtract && !first ? -k : k;
  }
  step.chain.push_back(std::move(link));
  return step;
}

ValueId StepBuilder::add(Step step) {
  const bool ofTwo = step.inputs.size() == 2 && steps.isConstant(step.inputs[0]) != steps.isConstant(step.inputs[1]);
  if (ofTwo && (step.kind == StepKind::Add || step.kind == StepKind::Subtract || step.kind == StepKind::Multiply)) {
    step = chained(std::move(step));
  } else if (ofTwo && (step.kind == StepKind::Maximum || step.kind == StepKind::Minimum) && steps.isConstant(step.inputs[0])) {
    std::swap(step.inputs[0], step.inputs[1]);
  }
  step.branch = branch;
  const bool folds = step.kind != StepKind::Input && step.kind != StepKind::Constant && step.kind != StepKind::Join &&
                     step.kind != StepKind::Unsupported &&
                     std::all_of(step.inputs.begin(), step.inputs.end(), [&](ValueId id) { return steps.isConstant(id); });
  if (folds) {
    std::vector<const Box*> boxes;
    for (const ValueId input : step.inputs) boxes.push_back(&steps[input].constant);
    Step known;
    known.kind = StepKind::Constant;
    known.branch = branch;
    known.constant = evaluate(step, boxes, {steps.arithmetic, 1}).box;
    known.shape = std::move(step.shape);
    step = std::move(known);
  }
  steps.list.push_back(std::move(step));
  return static_cast<ValueId>(steps.list.size() - 1);
}

ValueId StepBuilder::add(StepKind kind, std::vector<ValueId> inputs, const Dims& dims) {
  Step step;
  step.kind = kind;
  step.inputs = std::move(inputs);
  step.shape = Shape::of(dims);
  return add(std::move(step));
}

ValueId StepBuilder::input(const Dims& dims) {
  steps.input = add(StepKind::Input, {}, dims);
  return steps.input;
}

ValueId StepBuilder::constant(const Dims& dims, Interval value) {
  Step step;
  step.kind = StepKind::Constant;
  step.shape = Shape::of(dims);
  step.constant = Box(step.shape.count());
  for (std::size_t i = 0; i < step.shape.count(); ++i) step.constant.set(i, value);
  return add(std::move(step));
}

ValueId StepBuilder::constant(const Dims& dims, const std::vector<double>& elements) {
  Step step;
  step.kind = StepKind::Constant;
  step.shape = Shape::of(dims);
  step.constant = Box(step.shape.count());
  for (std::size_t i = 0; i < elements.size(); ++i) step.constant.set(step.shape.place(i), Interval::at(elements[i]));
  return add(std::move(step));
}

ValueId StepBuilder::unsupported(const Dims& dims, const std::string& name, std::vector<ValueId> inputs) {
  Step step;
  step.kind = StepKind::Unsupported;
  step.inputs = std::move(inputs);
  step.shape = Shape::of(dims);
  step.name = name;
  return add(std::move(step));
}

ValueId StepBuilder::gather(std::vector<ValueId> inputs, const Dims& dims, const std::function<Source(std::size_t)>& source) {
  Step step;
  step.kind = StepKind::Gather;
  step.shape = Shape::of(dims);
  step.index.resize(step.shape.count());
  std::vector<std::size_t> begins;
  std::size_t all = 0;
  for (const ValueId input : inputs) {
    begins.push_back(all);
    all += shape(input).count();
  }
  bool same =
      inputs.size() == 1 && step.shape.isImage() == shape(inputs[0]).isImage() && shape(inputs[0]).count() == step.index.size();
  same = same && (!step.shape.isImage() || step.shape.dims == shape(inputs[0]).dims);
  for (std::size_t i = 0; i < step.index.size(); ++i) {
    const auto [input, element] = source(i);
    const std::size_t to = step.shape.place(i);
    step.index[to] = input == kHole ? kHole : static_cast<std::uint32_t>(begins[input] + shape(inputs[input]).place(element));
    same = same && step.index[to] == to;
  }
  if (same && step.shape.dims == shape(inputs[0]).dims) return inputs[0];
  step.inputs = std::move(inputs);
  return add(std::move(step));
}

}  // namespace tbem::certify
