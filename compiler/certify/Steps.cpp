#include "compiler/certify/Steps.h"

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
    for (const std::int64_t dim : shape.dims) shape.channels *= dim;
  }
  return shape;
}

std::size_t Shape::place(std::size_t i) const {
  if (!isImage()) return i;
  const auto plane = static_cast<std::size_t>(height * width);
  return i % plane * static_cast<std::size_t>(channels) + i / plane;
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
