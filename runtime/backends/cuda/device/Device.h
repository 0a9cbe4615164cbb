// The card that this process uses: the driver's first device, its primary context, one stream in which all work stands in order.
// Opened by the first who asks; stays open until the process ends.
#pragma once

#include "runtime/backends/cuda/device/Driver.h"
#include "tbem/backend.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::cuda {

constexpr int kLeastCapability = 75;  ///< 10 x major + minor of the oldest cards that can be used: what kernels are made for

/// What the driver says of a card.
struct CardFacts {
  DeviceHandle handle = 0;
  std::string name;  ///< "NVIDIA H100 80GB HBM3"
  std::string uuid;  ///< "GPU-7465626d-0000-0000-0000-000000000001", by which CUDA_VISIBLE_DEVICES knows it on every machine
  int major = 0, minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory = 0;  ///< bytes in all
};

struct Device : CardFacts {
  const Driver* driver = nullptr;
  ContextHandle context = nullptr;
  StreamHandle stream = nullptr;
};

/// The cards that this process may use (CUDA_VISIBLE_DEVICES), in the driver's order, one at least. Errors, in words: there is no
/// driver, it is too old, there is no card, it does not say all of one.
tl::expected<std::vector<CardFacts>, std::string> visibleCards();

/// The device, its context current on this thread. Errors, in words: there is no driver, it is too old, there is no card, the
/// card is too old.
tl::expected<const Device*, std::string> openDevice();
/// Why it cannot be opened goes to last_error.
tbem_status openDevice(const Device*& device);

/// TBEM_OK, or the failure of a call of the driver, with its words and what was being done.
tbem_status check(const Device& device, int result, const char* doing);

}  // namespace tbem::cuda
