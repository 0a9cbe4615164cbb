// Copies of boxes of elements (kernels/Walk.cu).
#pragma once

#include "runtime/backends/cuda/ops/Shapes.h"

#include <vector>

namespace tbem::cuda {

/// An axis of a box, with the steps in x and in y, in elements.
struct WalkAxis {
  std::int64_t length, from, to;
};

struct Box {
  std::vector<WalkAxis> axes;  ///< from the outermost
  std::int64_t fromStart = 0, toStart = 0;
};

/// The same with axes of length 1 left out, and those that run on in both tensors joined.
Box joined(const Box& box);

/// y[..] = x[..] for each element of a box.
class Copy {
public:
  /// `elements`: of the larger of the two tensors.
  Copy(const Box& box, std::uint64_t elementBytes, std::int64_t elements);
  tbem_status run(const void* x, void* y) const;

private:
  struct Plan {
    std::uint64_t bytes = 0;  ///< of what is copied at once
    std::int64_t count = 0;
    Walk<std::uint32_t> narrow;
    Walk<std::uint64_t> large;
  };
  static Plan planOf(const Box& box, std::uint64_t bytes);

  bool wide_;
  Plan plan_, together_;  ///< element by element; as many at once as lie together everywhere
};

}  // namespace tbem::cuda
