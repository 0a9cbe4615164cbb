// Carrying the elements of a box from one layout to another.
//
// Both offsets are sums of one term a dimension. Where a run of elements is contiguous on both sides it is copied whole: equal
// blocked layouts are carried in pieces as long as they agree, whatever the primitive.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::cpu {

/// One dimension of a box: where each of its coordinates is read and written, in elements.
struct CarriedAxis {
  std::vector<std::int64_t> from, to;
  std::int64_t size() const { return static_cast<std::int64_t>(to.size()); }
};

/// `length` elements that are contiguous on both sides.
struct Run {
  std::int64_t from, to, length;
};

/// A box ready to be carried: for every combination of coordinates of `axes`, every run.
struct Carriage {
  std::vector<CarriedAxis> axes;  ///< from the outermost
  std::vector<Run> runs;
  std::int64_t elements = 0;
};

/// Both tables of each axis have its size; no axis: one element.
Carriage planCarriage(std::vector<CarriedAxis> axes);

/// Element types between which values can be carried: equal ones, f64, f32, i64, i32 among each other, and f32 and bf16.
bool carries(int from, int to);

/// Integers from floating values are truncated.
void carry(const Carriage& carriage, int fromType, int toType, const void* source, void* destination, int threads);

}  // namespace tbem::cpu
