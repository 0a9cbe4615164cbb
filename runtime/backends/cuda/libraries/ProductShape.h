// The four primitives that are matrix products, as one: y = op(a) op(b) for each place along leading dimensions, all row-major.
#pragma once

#include "runtime/core/Layout.h"
#include "tbem/backend.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tbem::cuda {

/// A leading dimension: how far apart its matrices lie, in elements. 0: one matrix for all.
struct Lead {
  std::int64_t count = 1, a = 0, b = 0, y = 0;
  bool operator==(const Lead&) const = default;
};

struct ProductShape {
  int a = 0, b = 1, y = 2, bias = -1;  ///< operands; the bias has a value for each column, -1: there is none
  std::int32_t factors = TBEM_F32;     ///< type of a and b: TBEM_F32, TBEM_BF16 or TBEM_F16
  std::int32_t result = TBEM_F32;      ///< of y: theirs, or TBEM_F32
  std::int32_t biasType = TBEM_F32;
  bool tf32 = false;                 ///< factors of f32 may be rounded to TF32
  std::int64_t m = 0, k = 0, n = 0;  ///< y[m, n], sums of k
  bool transposeA = false, transposeB = false;
  std::int64_t leadA = 0, leadB = 0;  ///< elements from a row to the next as they lie; 0: as long as rows are
  Lead batch;                         ///< done in one call
  std::vector<Lead> outer;            ///< a call for each combination of their places

  std::int64_t results() const;  ///< elements of y, all of it
  /// A library adds a bias of the result's type alone.
  bool castsBias() const { return bias >= 0 && biasType != result; }
};

/// An address so many elements of a type behind another.
inline const void* elementAt(const void* first, std::int64_t elements, std::int32_t type) {
  return static_cast<const char*>(first) + elements * static_cast<std::int64_t>(runtime::elementBytes(type));
}
inline void* elementAt(void* first, std::int64_t elements, std::int32_t type) {
  return const_cast<void*>(elementAt(static_cast<const void*>(first), elements, type));
}

/// Of a dense layer, a gradient of it, or a matmul, that passed checkDescription. Leading dimensions are joined as far as their
/// strides allow: with rows where b is the same for all and a is not transposed, else with one another.
ProductShape productShape(const tbem_op_desc& op);

/// Where the calls of a product begin in a, b and y, in elements: one for each combination of places along `outer`.
std::vector<std::array<std::int64_t, 3>> callsOf(const ProductShape& shape);

/// Bytes that the algorithm of a product may use that is not split into parts of ours (SumShape.h), known without a card. With
/// long sums of few results the library does well to split them, and adds the parts up in the workspace: it may have space for 32
/// of them and at most 8 MiB, where k is at least 512. Other products need none.
std::uint64_t productWorkspace(const ProductShape& shape);

}  // namespace tbem::cuda
