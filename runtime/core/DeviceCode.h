// What an instance holds on a device whose memory the host cannot reach: its kernels, its scalars, and a step that was recorded.
#pragma once

#include "runtime/core/Segments.h"
#include "tbem/backend.h"
#include "tbem/executable.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tbem::runtime {

struct DeviceCode {
  explicit DeviceCode(const tbem_backend& backend) : backend(backend), device(*backend.device), segments(device) {}
  ~DeviceCode();
  DeviceCode(const DeviceCode&) = delete;
  DeviceCode& operator=(const DeviceCode&) = delete;

  /// Loads the image, finds its kernels, and has memory for the scalars.
  tbem_status load(const Executable& executable);
  tbem_status loadImage(const Executable& executable);
  void forgetRecording();
  /// Whether what is recorded is the step of these scalars and this seed.
  bool isRecorded(std::span<const double> values, std::uint64_t seed) const;

  const tbem_backend& backend;
  const tbem_device_table& device;
  tbem_module* module = nullptr;
  std::vector<tbem_kernel*> kernels;
  void* scalars = nullptr;
  std::uint64_t scalarBytes = 0;
  std::uint64_t microBatch = 0;  ///< the number of the one at hand

  /// A step is recorded when it is run for the second time: the first time, libraries prepare themselves. What is recorded holds
  /// the seed and those scalars that calls take; where they have changed since, it is recorded again.
  tbem_recording* recording = nullptr;
  std::vector<std::uint32_t> slots;  ///< of the scalars that calls are given by value
  std::vector<double> recordedScalars;
  std::uint64_t recordedSeed = 0;
  bool ranOnce = false;
  bool canRecord = true;     ///< the device decides itself what depends on what it computes: with gates, about one sample each
  bool isRecording = false;  ///< work is kept, not done
  bool isWhere = false;      ///< what is being recorded is for a branch
  Segments segments;         ///< of a step with gates that is not recorded
};

}  // namespace tbem::runtime
