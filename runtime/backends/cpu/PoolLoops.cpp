#include "runtime/backends/cpu/PoolLoops.h"

#include "runtime/backends/cpu/Vector.h"

#include <limits>

namespace tbem::cpu {
namespace {

using runtime::Pool2d;

/// [begin, end) along one axis, clipped to the image.
struct Span {
  std::int64_t begin, end;
};

TBEM_INLINE Span spanOf(std::int64_t i, std::int64_t results, std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  if (kernel == 0) return {i * length / results, ((i + 1) * length + results - 1) / results};  // adaptive
  const std::int64_t first = i * stride - pad;
  return {first < 0 ? 0 : first, first + kernel > length ? length : first + kernel};
}

TBEM_INLINE Span rowsOf(const Pool2d& p, std::int64_t i) { return spanOf(i, p.oh, p.h, p.kh, p.strideH, p.top); }
TBEM_INLINE Span columnsOf(const Pool2d& p, std::int64_t j) { return spanOf(j, p.ow, p.w, p.kw, p.strideW, p.left); }

TBEM_INLINE float shareOf(const Pool2d& p, Span rows, Span columns) {
  const std::int64_t height = rows.end > rows.begin ? rows.end - rows.begin : 0, width = columns.end > columns.begin ? columns.end - columns.begin : 0;
  const std::int64_t inside = height * width > 0 ? height * width : 1;
  return 1.0F / static_cast<float>(p.includePad ? p.kh * p.kw : inside);
}

template <int W> TBEM_INLINE void largest(const Pool2d& p, const PoolPlane& s, Span rows, Span columns, typename Vec<W>::Float& best) {
  using V = typename Vec<W>::Float;
  best = V{} - std::numeric_limits<float>::infinity();
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    for (std::int64_t c = columns.begin; c < columns.end; ++c) {
      const V value = load<W>(s.x + (r * p.w + c) * s.point);
      best = ((value > best) | (value != value)) ? value : best;
    }
  }
}

template <int W> TBEM_INLINE void maxBody(const Pool2d& p, const PoolPlane& s) {
  for (std::int64_t i = 0; i < p.oh; ++i) {
    const Span rows = rowsOf(p, i);
    for (std::int64_t j = 0; j < p.ow; ++j) {
      typename Vec<W>::Float best;
      largest<W>(p, s, rows, columnsOf(p, j), best);
      place<W>(s.y + (i * p.ow + j) * s.point) = best;
    }
  }
}

template <int W> TBEM_INLINE void clear(const Pool2d& p, const PoolPlane& s) {
  for (std::int64_t k = 0; k < p.h * p.w; ++k) place<W>(s.dx + k * s.point) = typename Vec<W>::Float{};
}

/// The first place that holds the maximum takes the gradient; `left` holds what no place has taken yet.
template <int W> TBEM_INLINE void maxGradientBody(const Pool2d& p, const PoolPlane& s) {
  using V = typename Vec<W>::Float;
  clear<W>(p, s);
  for (std::int64_t i = 0; i < p.oh; ++i) {
    const Span rows = rowsOf(p, i);
    for (std::int64_t j = 0; j < p.ow; ++j) {
      const Span columns = columnsOf(p, j);
      V best;
      largest<W>(p, s, rows, columns, best);
      V left = load<W>(s.dy + (i * p.ow + j) * s.point);
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
          const std::int64_t at = (r * p.w + c) * s.point;
          const V value = load<W>(s.x + at);
          const auto here = (value == best) | ((value != value) & (best != best));
          place<W>(s.dx + at) += here ? left : V{};
          left = here ? V{} : left;
        }
      }
    }
  }
}

template <int W> TBEM_INLINE void averageBody(const Pool2d& p, const PoolPlane& s) {
  using V = typename Vec<W>::Float;
  for (std::int64_t i = 0; i < p.oh; ++i) {
    const Span rows = rowsOf(p, i);
    for (std::int64_t j = 0; j < p.ow; ++j) {
      const Span columns = columnsOf(p, j);
      V total{};
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        V sum{};
        for (std::int64_t c = columns.begin; c < columns.end; ++c) sum += load<W>(s.x + (r * p.w + c) * s.point);
        total += sum;
      }
      place<W>(s.y + (i * p.ow + j) * s.point) = total * shareOf(p, rows, columns);
    }
  }
}

template <int W> TBEM_INLINE void averageGradientBody(const Pool2d& p, const PoolPlane& s) {
  using V = typename Vec<W>::Float;
  clear<W>(p, s);
  for (std::int64_t i = 0; i < p.oh; ++i) {
    const Span rows = rowsOf(p, i);
    for (std::int64_t j = 0; j < p.ow; ++j) {
      const Span columns = columnsOf(p, j);
      const V share = load<W>(s.dy + (i * p.ow + j) * s.point) * shareOf(p, rows, columns);
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c) place<W>(s.dx + (r * p.w + c) * s.point) += share;
      }
    }
  }
}

#define TBEM_WIDTH(W)                                                                                           \
  TBEM_CLONES void max##W(const Pool2d& p, const PoolPlane& s) { maxBody<W>(p, s); }                            \
  TBEM_CLONES void maxGradient##W(const Pool2d& p, const PoolPlane& s) { maxGradientBody<W>(p, s); }            \
  TBEM_CLONES void average##W(const Pool2d& p, const PoolPlane& s) { averageBody<W>(p, s); }                    \
  TBEM_CLONES void averageGradient##W(const Pool2d& p, const PoolPlane& s) { averageGradientBody<W>(p, s); }
TBEM_WIDTH(16)
TBEM_WIDTH(8)
TBEM_WIDTH(4)
TBEM_WIDTH(1)

using Loop = void (*)(const Pool2d&, const PoolPlane&);

}  // namespace

void poolPlane(PoolLoop loop, int width, const Pool2d& pool, const PoolPlane& plane) {
  constexpr Loop loops[4][4] = {{max16, max8, max4, max1},
                                {maxGradient16, maxGradient8, maxGradient4, maxGradient1},
                                {average16, average8, average4, average1},
                                {averageGradient16, averageGradient8, averageGradient4, averageGradient1}};
  loops[static_cast<int>(loop)][width == 16 ? 0 : width == 8 ? 1 : width == 4 ? 2 : 3](pool, plane);
}

}  // namespace tbem::cpu
