// A device as estimates know it: plain data, read from a record of the language (docs/devices.md).
#pragma once

#include "runtime/include/tbem/backend.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tbem::estimate {

/// Limits that GPUs of one compute capability share.
struct Architecture {
  std::int64_t capability = 0;  ///< 90: compute capability 9.0
  std::int64_t warp = 0, threadsPerBlock = 0, threadsPerMultiprocessor = 0, blocksPerMultiprocessor = 0;
  std::int64_t registersPerBlock = 0, registersPerMultiprocessor = 0;
  std::uint64_t sharedPerBlock = 0, sharedPerBlockMost = 0, sharedReserved = 0;  ///< bytes
  std::array<std::int64_t, 3> block{}, grid{};
};

struct Device {
  std::string name;
  std::uint64_t memory = 0;  ///< bytes; 0: not known
  double bandwidth = 0;      ///< bytes a second
  /// FLOPs a second, by tbem_dtype.
  std::array<std::optional<double>, TBEM_BOOL + 1> rates;
  std::optional<double> tf32;  ///< of f32 matrix products and convolutions on units that round their inputs to TF32
  // Of a GPU; 0 where the record does not say.
  std::optional<Architecture> architecture;
  std::int64_t multiprocessors = 0;
  double clock = 0, memoryClock = 0;  ///< hertz
  std::uint64_t l2 = 0;               ///< bytes
  // What a process takes beside its tensors, where it was measured: bytes.
  std::optional<std::uint64_t> context, handles, kernels;
  std::string measured;  ///< when, on which driver
};

/// What a process takes beside its tensors, by the names of a record's fields. No bytes: not measured.
struct BesideTensors {
  const char* name;
  std::optional<std::uint64_t> bytes;
};
inline std::array<BesideTensors, 3> besideTensors(const Device& device) {
  return {{{"context", device.context}, {"handles", device.handles}, {"kernels", device.kernels}}};
}

}  // namespace tbem::estimate
