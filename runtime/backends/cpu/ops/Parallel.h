// Loops over independent pieces on the backend's threads.
#pragma once

#include <cstdint>

#include <omp.h>

namespace tbem::cpu {

/// A loop that this thread starts next has exactly `threads` threads, whatever OMP_DYNAMIC, OMP_MAX_ACTIVE_LEVELS and
/// OMP_NUM_THREADS say. oneDNN divides its work by the number that it asked for, and its threads wait for all of them: with fewer
/// a result has parts that nobody computed, or the wait never ends. `threads` is at most mostThreads().
inline void takeTeam(int threads) {
  if (omp_get_dynamic() != 0) omp_set_dynamic(0);
  if (omp_get_max_active_levels() < 1) omp_set_max_active_levels(1);
  omp_set_num_threads(threads);
}

/// Calls body(context, begin, end) for ranges that cover [0, count), on `threads` threads. Each begins with a share of its own,
/// the same for the same count, so that what it touched stays in its caches; it takes a part of that at a time, and when nothing
/// is left of it, parts of the others': a thread whose processor does other work holds up one part, not its whole share.
void takeInTurn(int threads, std::int64_t count, void (*body)(void*, std::int64_t, std::int64_t), void* context);

/// Calls body(i) for every i in [0, count), on `threads` threads where `elements` (the work, in elements touched) is worth a fork
/// (about 1 us). Small loops run without OpenMP: a parallel region of one thread would allocate its team.
template <class Body>
void parallelFor(int threads, std::int64_t count, std::int64_t elements, const Body& body) {
  if (threads == 1 || count == 1 || elements < 8192) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  const auto range = [](void* context, std::int64_t begin, std::int64_t end) {
    const Body& each = *static_cast<const Body*>(context);
    for (std::int64_t i = begin; i < end; ++i) each(i);
  };
  takeInTurn(threads, count, range, const_cast<Body*>(&body));
}

}  // namespace tbem::cpu
