// From a graph to steps. Internal to this folder.
#pragma once

#include "compiler/certify/StepBuilder.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <tl/expected.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::certify {

/// A persistent storage's elements in row-major order; nothing where they are not known.
using Arrays = std::function<std::optional<std::span<const double>>(std::string_view path)>;

/// What a graph's operator becomes.
struct Operator {
  const graph::Row& row;
  const graph::Op& op;
  std::vector<ValueId> inputs;  ///< kHole: an absent one
  std::vector<std::int64_t> dims(graph::TensorId tensor) const { return row.shape(tensor); }
  std::vector<std::int64_t> attribute(std::size_t k) const;
};

/// The value of each result. What is not supported is a step that says so.
std::vector<ValueId> lowerExpression(StepBuilder& to, const Operator& op);
std::vector<ValueId> lowerNative(StepBuilder& to, const Operator& op);

/// `flops`: as Network::of has them. Errors, in words: a network without gates, with several or whole numbers as inputs, of more
/// than one sample, or of another arithmetic than f32 and f64; arrays that are not there or of another size.
tl::expected<Steps, std::string> lower(const graph::Row& row, const Arrays& arrays, std::vector<double> flops);

}  // namespace tbem::certify
