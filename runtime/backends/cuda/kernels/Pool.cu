// Pooling over windows and adaptive bins. A gradient is gathered by each element of the image from the windows that cover it, in
// their order, so that nothing is added by two threads at once.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class Index>
using Pool = PoolShape<Index>;

/// Rows or columns of the image from `first` to before `last`.
template <class Index>
struct Range {
  Index first, last;
};

/// What window `number` covers, inside the image.
template <class Index>
__device__ Range<Index> covered(Index number, Index length, Index windows, Index kernel, Index stride, Index before) {
  if (kernel == 0) return {number * length / windows, ((number + 1) * length + windows - 1) / windows};
  const Index first = number * stride - before, last = first + kernel;
  return {first < 0 ? 0 : first, last > length ? length : last};
}

/// The windows that cover an element.
template <class Index>
__device__ Range<Index> covering(Index place, Index length, Index windows, Index kernel, Index stride, Index before) {
  if (kernel == 0) return {place * windows / length, ((place + 1) * windows + length - 1) / length};
  const Index lowest = place + before - kernel + 1, last = (place + before) / stride + 1;
  return {lowest <= 0 ? 0 : (lowest + stride - 1) / stride, last > windows ? windows : last};
}

template <class Index>
__device__ Range<Index> rowsOf(const Pool<Index>& p, Index i) {
  return covered(i, p.h, p.oh, p.kh, p.strideH, p.top);
}
template <class Index>
__device__ Range<Index> columnsOf(const Pool<Index>& p, Index j) {
  return covered(j, p.w, p.ow, p.kw, p.strideW, p.left);
}

/// A result or an element: its row and column in a plane of a width and a height.
template <class Index>
struct Spot {
  std::int64_t plane;
  Index row, column;
};

template <class Index>
__device__ Spot<Index> spotOf(std::int64_t number, Index height, Index width) {
  const auto at = static_cast<Index>(number);
  const Index line = at / width, plane = line / height;
  return {static_cast<std::int64_t>(plane), line - plane * height, at - line * width};
}

/// An average's divisor.
template <class Index>
__device__ float divisorOf(const Pool<Index>& p, const Range<Index>& rows, const Range<Index>& columns) {
  if (p.includePad != 0) return static_cast<float>(static_cast<std::int64_t>(p.kh) * p.kw);
  const Index height = rows.last - rows.first, width = columns.last - columns.first;
  return height > 0 && width > 0 ? static_cast<float>(static_cast<std::int64_t>(height) * width) : 1;
}

/// Position in the plane of the window's first maximum, -1 where it holds no element. A NaN is larger than any number.
template <class Index>
__device__ Index firstMaximum(const Pool<Index>& p, const float* image, Index i, Index j) {
  const Range<Index> rows = rowsOf(p, i), columns = columnsOf(p, j);
  Index at = -1;
  float largest = 0;
  for (Index r = rows.first; r < rows.last; ++r) {
    for (Index c = columns.first; c < columns.last; ++c) {
      const float here = image[r * p.w + c];
      if (at < 0 || here > largest || (isnan(here) && !isnan(largest))) at = r * p.w + c, largest = here;
    }
  }
  return at;
}

template <class Index>
__device__ void largest(const Pool<Index>& p, const float* x, float* y) {
  const auto number = threadNumber<std::uint64_t>();
  if (number >= p.results) return;
  const Spot<Index> spot = spotOf(static_cast<std::int64_t>(number), p.oh, p.ow);
  const float* const image = x + spot.plane * p.h * p.w;
  const Index at = firstMaximum(p, image, spot.row, spot.column);
  y[number] = at < 0 ? -INFINITY : image[at];
}

template <class Index>
__device__ void places(const Pool<Index>& p, const float* x, Index* place) {
  const auto number = threadNumber<std::uint64_t>();
  if (number >= p.results) return;
  const Spot<Index> spot = spotOf(static_cast<std::int64_t>(number), p.oh, p.ow);
  place[number] = firstMaximum(p, x + spot.plane * p.h * p.w, spot.row, spot.column);
}

template <class Index>
__device__ void largestGradient(const Pool<Index>& p, const float* dy, const Index* place, float* dx) {
  const auto number = threadNumber<std::uint64_t>();
  if (number >= p.elements) return;
  const Spot<Index> spot = spotOf(static_cast<std::int64_t>(number), p.h, p.w);
  const Index own = spot.row * p.w + spot.column;
  const Range<Index> down = covering(spot.row, p.h, p.oh, p.kh, p.strideH, p.top);
  const Range<Index> across = covering(spot.column, p.w, p.ow, p.kw, p.strideW, p.left);
  double sum = 0;
  for (Index i = down.first; i < down.last; ++i) {
    const std::int64_t line = (spot.plane * p.oh + i) * p.ow;
    for (Index j = across.first; j < across.last; ++j) {
      if (place[line + j] == own) sum += static_cast<double>(dy[line + j]);
    }
  }
  dx[number] = static_cast<float>(sum);
}

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};

/// The threads down a tile take a window's elements.
template <class Index>
__device__ void average(const Pool<Index>& p, const Tile& tile, const float* x, float* y) {
  const Place place(tile);
  const auto number = static_cast<std::int64_t>(blockIdx.x) * place.width + place.across;
  const bool inside = number < p.results;
  const Spot<Index> spot = spotOf(inside ? number : 0, p.oh, p.ow);
  const Range<Index> rows = rowsOf(p, spot.row), columns = columnsOf(p, spot.column);
  const Index height = rows.last - rows.first, width = columns.last - columns.first;
  double sum = 0;
  if (inside && height > 0 && width > 0) {
    const float* const from = x + (spot.plane * p.h + rows.first) * p.w + columns.first;
    if (tile.logDepth == 0) {
      for (Index r = 0; r < height; ++r) {
        for (Index c = 0; c < width; ++c) sum += static_cast<double>(from[r * p.w + c]);
      }
    } else {
      for (Index element = place.down; element < height * width; element += place.depth) {
        const Index r = element / width;
        sum += static_cast<double>(from[r * p.w + element - r * width]);
      }
    }
  }
  if (tile.logDepth > 0) sum = joinDown<Add>(tile, place, sum);
  if (inside && place.down == 0) y[number] = static_cast<float>(sum) / divisorOf(p, rows, columns);
}

template <class Index>
__device__ void averageGradient(const Pool<Index>& p, const float* dy, float* dx) {
  const auto number = threadNumber<std::uint64_t>();
  if (number >= p.elements) return;
  const Spot<Index> spot = spotOf(static_cast<std::int64_t>(number), p.h, p.w);
  const Range<Index> down = covering(spot.row, p.h, p.oh, p.kh, p.strideH, p.top);
  const Range<Index> across = covering(spot.column, p.w, p.ow, p.kw, p.strideW, p.left);
  double sum = 0;
  for (Index i = down.first; i < down.last; ++i) {
    const Range<Index> rows = rowsOf(p, i);
    for (Index j = across.first; j < across.last; ++j)
      sum += static_cast<double>(dy[(spot.plane * p.oh + i) * p.ow + j] / divisorOf(p, rows, columnsOf(p, j)));
  }
  dx[number] = static_cast<float>(sum);
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_POOL(bits, Index)                                                                                                 \
  extern "C" __global__ void tbem_Pool_max_##bits(tbem::cuda::PoolShape<Index> p, const float* x, float* y) {                  \
    tbem::cuda::largest(p, x, y);                                                                                              \
  }                                                                                                                            \
  extern "C" __global__ void tbem_Pool_places_##bits(tbem::cuda::PoolShape<Index> p, const float* x, Index* place) {           \
    tbem::cuda::places(p, x, place);                                                                                           \
  }                                                                                                                            \
  extern "C" __global__ void tbem_Pool_maxGradient_##bits(tbem::cuda::PoolShape<Index> p, const float* dy, const Index* place, \
                                                          float* dx) {                                                         \
    tbem::cuda::largestGradient(p, dy, place, dx);                                                                             \
  }                                                                                                                            \
  extern "C" __global__ void tbem_Pool_average_##bits(tbem::cuda::PoolShape<Index> p, tbem::cuda::Tile tile, const float* x,   \
                                                      float* y) {                                                              \
    tbem::cuda::average(p, tile, x, y);                                                                                        \
  }                                                                                                                            \
  extern "C" __global__ void tbem_Pool_averageGradient_##bits(tbem::cuda::PoolShape<Index> p, const float* dy, float* dx) {    \
    tbem::cuda::averageGradient(p, dy, dx);                                                                                    \
  }
TBEM_POOL(32, std::int32_t)
TBEM_POOL(64, std::int64_t)
