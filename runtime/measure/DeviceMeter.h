// How long a device was at work, by its own clock, and in what state it was.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace tbem::measure {

class DeviceMeter {
public:
  DeviceMeter() = default;
  virtual ~DeviceMeter() = default;
  DeviceMeter(const DeviceMeter&) = delete;
  DeviceMeter& operator=(const DeviceMeter&) = delete;

  /// Whether steps from here on are timed, to find when they come to rest or for what is kept. A step that is finds nothing in
  /// the device's caches of the one before, as far as the device has memory for that.
  enum class Timing : std::uint8_t { Off, WarmUp, Kept };
  virtual void time(Timing steps) = 0;
  /// Seconds for which the device was at work on the last step, which was timed. Errors: in words.
  virtual tl::expected<double, std::string> seconds() = 0;
  /// In what state the device was during steps that are kept.
  virtual void keepIn(runtime::Measurement& result) const = 0;
};

}  // namespace tbem::measure
