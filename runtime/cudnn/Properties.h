// What cuDNN wants to know of a GPU that is not there: the fields of its device-properties descriptor (cuDNN 9.8 and later,
// "device-less ahead-of-time compilation"), as the CUDA driver would report them of a real one.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tbem::cudnn {

struct DeviceProperties {
  std::string name;             ///< "NVIDIA H200"
  std::int64_t capability = 0;  ///< 100 x major + 10 x minor: 900 for compute capability 9.0
  std::int64_t multiprocessors = 0;
  std::uint64_t memory = 0;              ///< bytes
  std::uint64_t l2 = 0;                  ///< bytes
  std::int64_t clockKHz = 0;             ///< of the multiprocessors, boost
  std::int64_t memoryClockKHz = 0;       ///< as the driver reports it
  std::uint64_t sharedPerBlock = 0;      ///< bytes, without asking for more
  std::uint64_t sharedPerBlockMost = 0;  ///< bytes, asked for
  std::uint64_t sharedReserved = 0;      ///< bytes of each block that the system keeps
  std::int64_t registersPerBlock = 0;
  std::int64_t registersPerMultiprocessor = 0;
  std::int64_t threadsPerBlock = 0;
  std::int64_t threadsPerMultiprocessor = 0;
  std::int64_t blocksPerMultiprocessor = 0;
  std::int64_t warp = 0;
  std::array<std::int64_t, 3> block{}, grid{};
  std::int64_t driver = 0;  ///< 1000 x major + 10 x minor of CUDA: 13000; no answer depends on it
};

/// The JSON text that CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION takes. One line, fields in a fixed order: equal devices have
/// equal texts.
std::string toJson(const DeviceProperties& device);

}  // namespace tbem::cudnn
