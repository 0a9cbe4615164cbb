// The devices that rooflines know: records of the program, records of `std.devices`, and this machine as it was measured.
#pragma once

#include "compiler/estimate/Roofline.h"
#include "compiler/experiment/Workspace.h"
#include "runtime/include/tbem/backend.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace tbem::driver {

/// What `--roofline` names.
struct DeviceChoice {
  estimate::Device device;
  bool tf32 = false;
  bool thisMachine = false;  ///< bytes are those of the backend's own layouts; else those of row-major ones
};

/// The device of a record of the program, or of `std.devices`: case and everything but letters and digits do not count in the
/// latter's names. Errors: what is wrong with the program's record is told in its session alone; no device is
/// called that (`others` are offered too).
tl::expected<estimate::Device, Failed> namedDevice(Workspace& workspace, const std::string& name,
                                                   std::vector<std::string> others = {});
/// All of `std.devices`, in its order, and how they are called.
std::vector<estimate::Device> libraryDevices(std::vector<std::string>& names);

/// "a100", "rtx4090:tf32", "cpu" (what `doctor --measure` has measured), or the name of a record in the program.
tl::expected<DeviceChoice, Failed> findDevice(Workspace& workspace, const std::string& text);

/// Measures this machine, with all its threads, and keeps the result for `findDevice`. Returns it, or why there is none.
tl::expected<estimate::Device, std::string> measureThisMachine();

/// "350 GFLOP/s f32, 41 GB/s".
std::string describeRates(const estimate::Device& device);

}  // namespace tbem::driver
