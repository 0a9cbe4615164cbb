// A GPU that is not here, and who says which engines its convolutions have.
#pragma once

#include "compiler/devices/EngineSource.h"
#include "compiler/driver/Pipeline.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

struct AskedDevice {
  estimate::Device device;
  EngineSource source;
};

/// `name`: a record of the program or of `std.devices`; `pythonFirst`: see EngineSource. A record that lacks a field is
/// told of in the session (E0512).
tl::expected<AskedDevice, Failed> openAskedDevice(State& state, const std::string& name, bool pythonFirst);

}  // namespace tbem::driver
