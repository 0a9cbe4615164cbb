// Shapes as kernels take them: in 32 bits where that is enough, and shared out over blocks from the numbers alone, never by the
// card, so that a plan made on another machine holds.
#pragma once

#include "runtime/backends/cuda/device/Launch.h"
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/device/Parameters.h"

#include <atomic>
#include <bit>
#include <span>

namespace tbem::cuda {

/// Tensors of so many elements need numbers of 64 bits.
constexpr std::int64_t kWide = std::int64_t{1} << 31;
/// From how many elements on they are used: kWide, but in tests, which have not the memory for as many.
std::atomic<std::int64_t>& wideFrom();
inline bool isWide(std::int64_t elements) { return elements >= wideFrom(); }

template <class Index>
Divider<Index> dividerBy(std::int64_t divisor);

/// A dimension and the step from one of its elements to the next, in elements.
struct Axis {
  std::int64_t length, step;
};

/// `axes` from the outermost to the innermost, at most `Most`.
template <class Index, int Most>
Axes<Index, Most> axesOf(std::span<const Axis> axes);

/// What differs by an operand's type: f32, bf16 or f16.
template <class T>
T ofType(int type, T ofF32, T ofBf16, T ofF16) {
  return type == TBEM_BF16 ? ofBf16 : type == TBEM_F16 ? ofF16 : ofF32;
}

/// The kernels of a file that differ by the bytes of an element and the bits of `Index`: tbem_FILE_BYTES_BITS.
struct SizedKernels {
  const char* file;
  const char *narrow[5], *wide[5];  ///< of 1, 2, 4, 8 and 16 bytes, as far as there are such

  Kernel of(std::uint64_t bytes, bool isWide) const {
    const auto place = static_cast<std::size_t>(std::countr_zero(bytes));
    return {file, (isWide ? wide : narrow)[place]};
  }
};
#define TBEM_SIZED_NAMES(file, bits)                                                                            \
  {                                                                                                             \
    "tbem_" #file "_1_" #bits, "tbem_" #file "_2_" #bits, "tbem_" #file "_4_" #bits, "tbem_" #file "_8_" #bits, \
        "tbem_" #file "_16_" #bits                                                                              \
  }
#define TBEM_SIZED_KERNELS(file) \
  tbem::cuda::SizedKernels { #file, TBEM_SIZED_NAMES(file, 32), TBEM_SIZED_NAMES(file, 64) }

std::int64_t quotientUp(std::int64_t number, std::int64_t by);

/// Blocks of kThreads for so many threads.
std::uint32_t blocksFor(std::int64_t threads);

/// Threads for results of `count` elements each. `inner`: results that lie beside each other, or 0: elements of one do (rows).
Tile tileFor(std::int64_t results, std::int64_t count, std::int64_t inner);

/// A tensor's lines along an axis, and the blocks that take them all.
struct LinePlan {
  bool wide = false;
  std::uint32_t blocks = 1, threads = kThreads;
  int each = 0;  ///< rows of up to 32 times as many elements, which a warp holds in its registers; 0: others
  LineShape<std::uint32_t> narrow;
  LineShape<std::uint64_t> large;
};
LinePlan linesOf(const tbem_operand& x, std::int64_t axis);

}  // namespace tbem::cuda
