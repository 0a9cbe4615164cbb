// Rooflines of rows on a device, which need not be this machine.
#pragma once

#include "compiler/devices/Devices.h"
#include "compiler/estimate/Roofline.h"
#include "compiler/run/State.h"

#include <cstddef>
#include <string>

namespace tbem::driver {

/// The row lowered in row-major layouts by `ref`: no machine's own layouts and reorders. Errors: in words.
tl::expected<estimate::Program, std::string> lowerRowMajor(Events& events, const RowState& row, const Target& target,
                                                           estimate::QueryCache& queries);

/// Rooflines of a state's rows on one device. Of this machine: the program that runs there. Of any other device: the row lowered
/// in row-major layouts by `ref`, so that no other machine's layouts and reorders are counted.
class Rooflines {
public:
  /// `state` has passed `lower` and outlives this.
  Rooflines(DeviceChoice choice, const State& state) : choice(std::move(choice)), state(state) {}
  /// Errors: in words.
  tl::expected<estimate::Roofline, std::string> of(const RowState& row);

private:
  DeviceChoice choice;
  const State& state;
  estimate::QueryCache queries;
  std::size_t done = 0;  ///< rows
};

/// Which arithmetic the least time leaves out, and what to do about it; "": none.
std::string leftOutText(const estimate::Roofline& roofline);

}  // namespace tbem::driver
