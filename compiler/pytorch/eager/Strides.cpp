#include "compiler/pytorch/eager/Strides.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tbem::estimate {

namespace {

/// Below 0: axis `a` is the narrower; above 0: the wider; 0: either.
int widthAgainst(const Shape& shape, const Strides& strides, std::size_t a, std::size_t b) {
  if (strides[a] == 0 || strides[b] == 0) return 0;
  if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
  return shape[a] > shape[b] ? 1 : 0;
}

}  // namespace

std::int64_t elementsOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Strides rowMajor(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

std::optional<Strides> viewedAs(const Shape& to, const Shape& shape, const Strides& strides) {
  if (shape == to) return strides;
  if (shape.empty() || elementsOf(shape) == 0) return rowMajor(to);
  Strides view(to.size());
  std::size_t left = to.size();  // axes of the view that have no step yet
  std::int64_t step = strides.back(), elements = 1, seen = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    elements *= shape[axis];
    const bool goesOn = axis > 0 && (shape[axis - 1] == 1 || strides[axis - 1] == elements * step);
    if (goesOn) continue;
    while (left > 0 && (seen < elements || to[left - 1] == 1)) {
      view[left - 1] = seen * step;
      seen *= to[left - 1];
      --left;
    }
    if (seen != elements) return std::nullopt;
    if (axis == 0) break;
    step = strides[axis - 1];
    elements = seen = 1;
  }
  return left == 0 ? std::optional(view) : std::nullopt;
}

Strides permuted(const Strides& strides, std::span<const std::size_t> order) {
  Strides view(order.size());
  std::ranges::transform(order, view.begin(), [&strides](std::size_t axis) { return strides[axis]; });
  return view;
}

Strides expandedTo(const Shape& to, const Shape& shape, const Strides& strides) {
  Strides view(to.size(), 0);
  const std::size_t more = to.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == to[more + axis]) view[more + axis] = strides[axis];
  }
  return view;
}

Strides denseLike(const Shape& shape, const Strides& strides) {
  std::vector<std::size_t> narrowFirst(shape.size());
  std::iota(narrowFirst.rbegin(), narrowFirst.rend(), std::size_t{0});
  for (std::size_t i = 1; i < narrowFirst.size(); ++i) {
    for (std::size_t moved = i, other = i; other-- > 0;) {
      const int width = widthAgainst(shape, strides, narrowFirst[other], narrowFirst[moved]);
      if (width < 0) break;
      if (width == 0) continue;
      std::swap(narrowFirst[other], narrowFirst[moved]);
      moved = other;
    }
  }
  Strides dense(shape.size());
  std::int64_t step = 1;
  for (const std::size_t axis : narrowFirst) {
    dense[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return dense;
}

}  // namespace tbem::estimate
