// Pooling over windows and adaptive bins. A gradient is gathered by each element of the image from the windows that cover it, in
// their order, so that nothing is added by two threads at once.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

/// Elements or windows from `first` to before `last`; none where `last` is not above `first`.
template <class Index>
struct Range {
  Index first, last;
  __device__ Index size() const { return last > first ? last - first : 0; }
};

/// What a window covers, inside the image.
template <class Index>
__device__ Range<Index> covered(const PoolAxis<Index>& axis, Index window) {
  if (axis.kernel == 0) {
    const Index behind = (window + 1) * axis.length;
    return {quotient(behind - axis.length, axis.windowsBy), quotient(behind + axis.windows - 1, axis.windowsBy)};
  }
  const Index begin = window * axis.stride, end = begin + axis.kernel;  // counted from before the image
  const Index first = begin > axis.before ? begin - axis.before : 0, last = end > axis.before ? end - axis.before : 0;
  return {first, last < axis.length ? last : axis.length};
}

/// The windows that cover an element.
template <class Index>
__device__ Range<Index> covering(const PoolAxis<Index>& axis, Index place) {
  if (axis.kernel == 0) {
    const Index behind = (place + 1) * axis.windows;
    return {quotient(behind - axis.windows, axis.lengthBy), quotient(behind + axis.length - 1, axis.lengthBy)};
  }
  const Index at = place + axis.before, last = quotient(at, axis.strideBy) + 1;
  const Index first = at >= axis.kernel ? quotient(at - axis.kernel, axis.strideBy) + 1 : 0;
  return {first, last < axis.windows ? last : axis.windows};
}

/// A result or an element in its plane.
template <class Index>
struct Spot {
  Index plane, row, column, channel;
};

template <class Index>
__device__ Spot<Index> windowOf(const PoolShape<Index>& p, Index number) {
  const Index window = quotient(number, p.channels);
  const Index line = quotient(window, p.columns.windowsBy), plane = quotient(line, p.rows.windowsBy);
  return {plane, line - plane * p.rows.windows, window - line * p.columns.windows, number - window * p.channels.divisor};
}

/// Where the element lies.
template <class Index>
__device__ Index placeOf(const PoolShape<Index>& p, Index plane, Index row, Index column, Index channel) {
  return ((plane * p.rows.length + row) * p.columns.length + column) * p.channels.divisor + channel;
}

/// An average's divisor.
template <class Index>
__device__ float divisorOf(const PoolShape<Index>& p, const Range<Index>& rows, const Range<Index>& columns) {
  if (p.includePad != 0) return static_cast<float>(p.rows.kernel * p.columns.kernel);
  const Index inside = rows.size() * columns.size();
  return inside > 0 ? static_cast<float>(inside) : 1;
}

/// Position in the image of the window's first maximum, `none` where it holds no element. A NaN is larger than any number.
template <class T, class Index>
__device__ Index firstMaximum(const PoolShape<Index>& p, const T* x, const Spot<Index>& window, Index none) {
  const Range<Index> rows = covered(p.rows, window.row), columns = covered(p.columns, window.column);
  Index at = none;
  float largest = 0;
#pragma unroll 1
  for (Index r = rows.first; r < rows.last; ++r) {
    Index place = placeOf(p, window.plane, r, columns.first, window.channel);
    for (Index c = columns.first; c < columns.last; ++c, place += p.channels.divisor) {
      const float here = asFloat(x[place]);
      if (at == none || here > largest || (isnan(here) && !isnan(largest))) at = place, largest = here;
    }
  }
  return at;
}

template <class Index>
constexpr Index kNone = static_cast<Index>(-1);

template <class T, class Index>
__device__ void largest(const PoolShape<Index>& p, const T* x, T* y) {
  const auto number = threadNumber<Index>();
  if (number >= p.results) return;
  const Index at = firstMaximum(p, x, windowOf(p, number), kNone<Index>);
  y[number] = at == kNone<Index> ? rounded<T>(-INFINITY) : x[at];
}

template <class T, class Index>
__device__ void places(const PoolShape<Index>& p, const T* x, Index* place) {
  const auto number = threadNumber<Index>();
  if (number < p.results) place[number] = firstMaximum(p, x, windowOf(p, number), kNone<Index>);
}

/// kGroup sums beside each other, written at once.
inline __device__ void storeTogether(float* to, const double (&sums)[kGroup]) {
  *reinterpret_cast<float4*>(to) = {static_cast<float>(sums[0]), static_cast<float>(sums[1]), static_cast<float>(sums[2]),
                                    static_cast<float>(sums[3])};
}
template <class Narrow>
__device__ void storeTogether(Narrow* to, const double (&sums)[kGroup]) {
  const auto bits = [&](int k) { return static_cast<std::uint32_t>(rounded<Narrow>(static_cast<float>(sums[k])).bits); };
  *reinterpret_cast<uint2*>(to) = {bits(0) | bits(1) << 16, bits(2) | bits(3) << 16};
}

/// Elements of a row after each other, of one channel, and the windows that cover any of them.
template <class Index>
struct Group {
  Index plane, row, column, channel, first;  ///< `first`: where the first of the elements lies
  Range<Index> down, across;

  __device__ Group(const PoolShape<Index>& p, Index number) {
    const Index ofRow = quotient(number, p.channels), line = quotient(ofRow, p.groupsBy);
    channel = number - ofRow * p.channels.divisor;
    plane = quotient(line, p.rows.lengthBy);
    row = line - plane * p.rows.length;
    column = (ofRow - line * p.groupsBy.divisor) * kGroup;
    first = placeOf(p, plane, row, column, channel);
    const Index behind = column + kGroup < p.columns.length ? column + kGroup : p.columns.length;
    down = covering(p.rows, row);
    across = {covering(p.columns, column).first, covering(p.columns, behind - 1).last};
  }
  __device__ Index window(const PoolShape<Index>& p, Index i, Index j) const {
    return ((plane * p.rows.windows + i) * p.columns.windows + j) * p.channels.divisor + channel;
  }
  template <class T>
  __device__ void store(const PoolShape<Index>& p, const double (&sums)[kGroup], T* dx) const {
    constexpr std::uintptr_t kTogether = kGroup * sizeof(T);
    T* const to = dx + first;
    const bool together = p.channels.divisor == 1 && p.columns.length % kGroup == 0;
    if (together && reinterpret_cast<std::uintptr_t>(dx) % kTogether == 0) {
      storeTogether(to, sums);
      return;
    }
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (column + k < p.columns.length) to[k * p.channels.divisor] = rounded<T>(static_cast<float>(sums[k]));
    }
  }
};

template <class T, class Index>
__device__ void largestGradient(const PoolShape<Index>& p, const T* dy, const Index* place, T* dx) {
  const auto number = threadNumber<Index>();
  if (number >= p.groups) return;
  const Group<Index> group(p, number);
  double sums[kGroup] = {};
#pragma unroll 1
  for (Index i = group.down.first; i < group.down.last; ++i) {
    for (Index j = group.across.first; j < group.across.last; ++j) {
      const Index window = group.window(p, i, j), at = place[window] - group.first;
      const double gradient = static_cast<double>(asFloat(dy[window]));
#pragma unroll
      for (int k = 0; k < kGroup; ++k) sums[k] += at == k * p.channels.divisor ? gradient : 0;
    }
  }
  group.store(p, sums, dx);
}

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};

/// The threads down a tile take a window's elements.
template <class T, class Index>
__device__ void average(const PoolShape<Index>& p, const Tile& tile, const T* x, T* y) {
  const Place place(tile);
  const Index number = static_cast<Index>(blockIdx.x) * place.width + place.across;
  const bool inside = number < p.results;
  const Spot<Index> window = windowOf(p, inside ? number : 0);
  const Range<Index> rows = covered(p.rows, window.row), columns = covered(p.columns, window.column);
  const Index width = columns.size(), elements = inside ? rows.size() * width : 0;
  const T* const from = x + placeOf(p, window.plane, rows.first, columns.first, window.channel);
  double sum = 0;
  if (tile.logDepth == 0) {
#pragma unroll 1
    for (Index r = 0; r < (inside ? rows.size() : 0); ++r) {
      for (Index c = 0; c < width; ++c)
        sum += static_cast<double>(asFloat(from[(r * p.columns.length + c) * p.channels.divisor]));
    }
  } else {
    const bool together = width == p.columns.length;  // rows of the window follow each other
    for (Index element = place.down; element < elements; element += place.depth) {
      const Index r = together ? 0 : element / width;
      const Index apart = r * p.columns.length + element - r * width;
      sum += static_cast<double>(asFloat(from[apart * p.channels.divisor]));
    }
    sum = joinDown<Add>(tile, place, sum);
  }
  if (inside && place.down == 0) y[number] = rounded<T>(static_cast<float>(sum) / divisorOf(p, rows, columns));
}

template <class T, class Index>
__device__ void averageGradient(const PoolShape<Index>& p, const T* dy, T* dx) {
  const auto number = threadNumber<Index>();
  if (number >= p.groups) return;
  const Group<Index> group(p, number);
  double sums[kGroup] = {};
#pragma unroll 1
  for (Index i = group.down.first; i < group.down.last; ++i) {
    const Range<Index> rows = covered(p.rows, i);
    for (Index j = group.across.first; j < group.across.last; ++j) {
      const Range<Index> columns = covered(p.columns, j);
      const float whole = asFloat(dy[group.window(p, i, j)]);
      const double gradient = static_cast<double>(p.share != 0 ? whole * p.share : whole / divisorOf(p, rows, columns));
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const Index column = group.column + k;
        sums[k] += column >= columns.first && column < columns.last ? gradient : 0;
      }
    }
  }
  group.store(p, sums, dx);
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_POOL(type, T, bits, Index)                                                                                      \
  extern "C" __global__ void tbem_Pool_max_##type##_##bits(tbem::cuda::PoolShape<Index> p, const T* x, T* y) {               \
    tbem::cuda::largest(p, x, y);                                                                                            \
  }                                                                                                                          \
  extern "C" __global__ void tbem_Pool_places_##type##_##bits(tbem::cuda::PoolShape<Index> p, const T* x, Index* place) {    \
    tbem::cuda::places(p, x, place);                                                                                         \
  }                                                                                                                          \
  extern "C" __global__ void tbem_Pool_maxGradient_##type##_##bits(tbem::cuda::PoolShape<Index> p, const T* dy,              \
                                                                   const Index* place, T* dx) {                              \
    tbem::cuda::largestGradient(p, dy, place, dx);                                                                           \
  }                                                                                                                          \
  extern "C" __global__ void tbem_Pool_average_##type##_##bits(tbem::cuda::PoolShape<Index> p, tbem::cuda::Tile tile,        \
                                                               const T* x, T* y) {                                           \
    tbem::cuda::average(p, tile, x, y);                                                                                      \
  }                                                                                                                          \
  extern "C" __global__ void tbem_Pool_averageGradient_##type##_##bits(tbem::cuda::PoolShape<Index> p, const T* dy, T* dx) { \
    tbem::cuda::averageGradient(p, dy, dx);                                                                                  \
  }
TBEM_POOL(f32, float, 32, std::uint32_t)
TBEM_POOL(f32, float, 64, std::uint64_t)
TBEM_POOL(bf16, tbem::cuda::Bfloat16, 32, std::uint32_t)
TBEM_POOL(bf16, tbem::cuda::Bfloat16, 64, std::uint64_t)
TBEM_POOL(f16, tbem::cuda::Float16, 32, std::uint32_t)
TBEM_POOL(f16, tbem::cuda::Float16, 64, std::uint64_t)
