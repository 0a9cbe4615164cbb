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

double Steps::costBelow(std::uint32_t branch, std::span<const Decisions> decisions, bool dearest) const {
  double sum = flops[branch];
  for (std::size_t g = 0; g < gates.size(); ++g) {
    if (gates[g].branch != branch) continue;
    const Decisions here = decisions.empty() ? Decisions{gates[g].decisions} : decisions[g];
    const auto rows = static_cast<double>(here.of);
    const double taken = here.isFalse == here.of ? 0 : costBelow(gates[g].whereTrue, decisions, dearest) / rows;
    const double other = here.isTrue == here.of ? 0 : costBelow(gates[g].whereFalse, decisions, dearest) / rows;
    sum += taken * static_cast<double>(here.isTrue) + other * static_cast<double>(here.isFalse) +
           (dearest ? std::max(taken, other) : std::min(taken, other)) * static_cast<double>(here.open());
  }
  return sum;
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
