#include "compiler/certify/Steps.h"

#include <algorithm>
#include <utility>

namespace tbem::certify {

Shape Shape::of(std::vector<std::int64_t> dims) {
  Shape shape;
  shape.dims = std::move(dims);
  if (shape.isImage()) {
    shape.channels = shape.dims[1];
    shape.height = shape.dims[2];
    shape.width = shape.dims[3];
  } else {
    for (const std::int64_t dim : shape.dims) shape.height *= dim;
    shape.channels = shape.dims.empty() ? 1 : shape.dims.back();
    shape.height /= std::max<std::int64_t>(shape.channels, 1);
  }
  return shape;
}

std::size_t Shape::place(std::size_t i) const {
  if (!isImage()) return i;
  const auto plane = static_cast<std::size_t>(height * width);
  return i % plane * static_cast<std::size_t>(channels) + i / plane;
}

double Steps::costOf(const Place& place, std::span<const std::vector<std::int8_t>> decisions, bool dearest) const {
  double sum = flops[place.branch];
  for (std::size_t g = 0; g < gates.size(); ++g) {
    const Gate& gate = gates[g];
    if (gate.branch != place.branch) continue;
    // About the row at hand, or about each of the rows that the sample has.
    const bool same = gate.rows == place.rows;
    for (std::size_t row = same ? place.row : 0; row < (same ? place.row + 1 : static_cast<std::size_t>(gate.rows)); ++row) {
      const std::int8_t here = decisions.empty() ? static_cast<std::int8_t>(-1) : decisions[g][row];
      const double taken = here == 0 ? 0 : costOf({gate.whereTrue, gate.rows, row}, decisions, dearest);
      const double other = here == 1 ? 0 : costOf({gate.whereFalse, gate.rows, row}, decisions, dearest);
      sum += here == 1 ? taken : here == 0 ? other : dearest ? std::max(taken, other) : std::min(taken, other);
    }
  }
  return sum;
}

double Steps::costOfSide(std::size_t gate, bool side, bool dearest) const {
  return costOf({side ? gates[gate].whereTrue : gates[gate].whereFalse, gates[gate].rows, 0}, {}, dearest);
}

void Window::include(const Window& other) {
  if (other.isEmpty()) return;
  if (isEmpty()) {
    *this = other;
    return;
  }
  h0 = std::min(h0, other.h0);
  h1 = std::max(h1, other.h1);
  w0 = std::min(w0, other.w0);
  w1 = std::max(w1, other.w1);
}

}  // namespace tbem::certify
