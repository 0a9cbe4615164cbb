// Makes steps, and computes those at once that depend on no input. Internal to this folder.
#pragma once

#include "compiler/certify/Evaluate.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::certify {

class StepBuilder {
public:
  explicit StepBuilder(Arithmetic arithmetic) { steps.arithmetic = arithmetic; }

  using Dims = std::vector<std::int64_t>;
  /// An element of an input: the input, and the number of the element in row-major order. kHole as the input: 0.
  using Source = std::pair<std::uint32_t, std::size_t>;

  /// An Add, Subtract or Multiply by a constant becomes part of an Affine, and the constant of a Maximum or Minimum its second
  /// operand.
  ValueId add(Step step);
  ValueId add(StepKind kind, std::vector<ValueId> inputs, const Dims& dims);
  ValueId input(const Dims& dims);
  ValueId constant(const Dims& dims, Interval value);
  /// Elements in row-major order, as the network keeps them.
  ValueId constant(const Dims& dims, const std::vector<double>& elements);
  /// Nothing is known of it.
  ValueId unsupported(const Dims& dims, const std::string& name, std::vector<ValueId> inputs = {});
  /// `source(i)`: where the result's i-th element in row-major order comes from. Where that is the input as it is, the input.
  ValueId gather(std::vector<ValueId> inputs, const Dims& dims, const std::function<Source(std::size_t)>& source);

  const Shape& shape(ValueId id) const { return steps[id].shape; }

  Steps steps;
  std::uint32_t branch = 0;  ///< of the steps that are made next

private:
  Step chained(Step step) const;
};

/// Coordinates of the i-th element in row-major order, and back.
std::vector<std::int64_t> coordinates(const std::vector<std::int64_t>& dims, std::size_t i);
std::size_t rowMajor(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& at);

}  // namespace tbem::certify
