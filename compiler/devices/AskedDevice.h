// A GPU that is not here, and who says which engines its convolutions have.
#pragma once

#include "compiler/devices/EngineSource.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/support/Events.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

struct AskedDevice {
  estimate::Device device;
  EngineSource source;
};

/// Which GPU, and whom to ask.
struct DeviceQuestion {
  std::string name;   ///< a record of the program or of `std.devices`
  std::string cudnn;  ///< EngineRequest::cudnn
  bool pythonFirst = false;
};
/// The device of that name, and what cuDNN is told of it. A record that lacks a field is told of in the session (E0512).
struct DescribedDevice {
  estimate::Device device;
  cudnn::DeviceProperties properties;
};
tl::expected<DescribedDevice, Failed> describedDevice(Workspace& workspace, const std::string& name);
/// A record that lacks a field is told of in the session (E0512). `asked`: lists that cuDNN was asked for, counted up; it and
/// `events` must outlive the result.
tl::expected<AskedDevice, Failed> openAskedDevice(Workspace& workspace, const DeviceQuestion& question, std::size_t& asked,
                                                  Events& events);

}  // namespace tbem::driver
