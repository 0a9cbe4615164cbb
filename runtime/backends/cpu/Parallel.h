// Loops over independent pieces on the backend's threads.
#pragma once

#include <cstdint>

namespace tbem::cpu {

/// Calls body(i) for every i in [0, count), on `threads` threads where `elements` (the work, in elements touched) is worth a fork
/// (about 1 us); pieces are divided evenly and in order. Small loops run without OpenMP: a parallel region of one thread would
/// allocate its team.
template <class Body>
void parallelFor(int threads, std::int64_t count, std::int64_t elements, const Body& body) {
  if (threads == 1 || count == 1 || elements < 8192) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace tbem::cpu
