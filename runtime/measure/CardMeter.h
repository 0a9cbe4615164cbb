// Energy of an NVIDIA card, from the counter that NVML reads.
#pragma once

#include "runtime/measure/Meters.h"
#include "runtime/measure/Nvml.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::measure {

/// Of the whole card, whoever used it. On an H200 the counter moves every 100 ms (docs/measurements/h200.md). Where there is no
/// NVML, or the card has no counter, `reason()` says so.
class CardMeter final : public EnergySource {
public:
  /// `busId`: of the card, as cuDeviceGetPCIBusId gives it: "0000:3b:00.0".
  explicit CardMeter(const std::string& busId);
  const std::string& reason() const override { return why; }
  void start() override;
  void look() override;
  std::optional<double> joules() const override;
  static constexpr double kWindow = 5;  ///< fifty ticks
  double window() const override { return kWindow; }

  /// Measures `restingPower` for `seconds` during which the caller asks the card for nothing, as well as ticks allow; does
  /// nothing where the counter cannot be read.
  void rest(double seconds);
  std::optional<double> restingPower() const override { return resting; }

private:
  std::optional<std::uint64_t> read();

  const NvmlCard card;
  std::string why;                    ///< it has no counter; "": it has one
  std::uint64_t first = 0, last = 0;  ///< millijoules
  std::optional<double> resting;
};

}  // namespace tbem::measure
