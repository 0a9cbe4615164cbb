// Notes of kernels about numbers that lie outside their axis (device/ErrorWord.h).
#pragma once

#include <cstdint>

namespace tbem::cuda {

/// Keeps the first place of the first primitive that anything is wrong with, whichever thread comes first.
inline __device__ void report(std::uint64_t* word, int primitive, std::uint64_t place) {
  const std::uint64_t most = (std::uint64_t{1} << 48) - 1;
  const std::uint64_t note = (static_cast<std::uint64_t>(primitive) << 48) | (place < most ? place : most);
  atomicMin(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(note));
}

}  // namespace tbem::cuda
