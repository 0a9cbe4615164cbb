// Steps in memory of a strided tensor's axes, in elements, as PyTorch's views and element-wise operators set them. Axes are those
// of a shape of the same length; a step of 0 repeats one element. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::estimate {

using Shape = std::vector<std::int64_t>;
using Strides = std::vector<std::int64_t>;

std::int64_t elementsOf(const Shape& shape);
Strides rowMajor(const Shape& shape);

/// Of a view with other axes over the same elements in the same order; none where there is no such view, and a reshape copies
/// (at::detail::computeStride). Both shapes have the same number of elements.
std::optional<Strides> viewedAs(const Shape& to, const Shape& shape, const Strides& strides);

/// Axis i of the view is axis order[i].
Strides permuted(const Strides& strides, std::span<const std::size_t> order);

/// Of an expanded view: `shape` broadcasts to `to` by NumPy's rule.
Strides expandedTo(const Shape& to, const Shape& shape, const Strides& strides);

/// Without gaps, in the order of these: what TensorIterator allocates (its reorder_dimensions).
Strides denseLike(const Shape& shape, const Strides& strides);

}  // namespace tbem::estimate
