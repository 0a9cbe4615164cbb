// `--max` of estimate and fit: a memory, or a device whose memory it is. Of either `--reserve` is taken off.
#pragma once

#include "compiler/devices/Devices.h"
#include "compiler/run/State.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbem::driver {

/// The text of a `--max`: "24GiB", "h100", "24GiB:upper", "24GiB:reserved".
struct LimitText {
  std::string_view what;
  bool upper = false;     ///< what may be taken counts, not what is expected
  bool reserved = false;  ///< what the allocator reserves on a card without end counts, not whether it runs on this one
};
/// Errors: what is wrong behind the colon.
tl::expected<LimitText, std::string> readLimitText(std::string_view text);

struct MemoryLimit {
  /// Less the reserve; of a device also less what a process was measured to take beside its tensors.
  std::uint64_t bytes = 0;
  bool upper = false;     ///< as in LimitText
  bool reserved = false;  ///< as in LimitText
};

struct FitLimit : MemoryLimit {
  std::optional<estimate::Device> device;
  std::string deviceName;     ///< of `device`, as it was given
  std::string unmeasured;     ///< of the device: "context, handles, kernels"
  std::uint64_t reserve = 0;  ///< was taken off; it stands for what was not measured too
  /// "24.00 GiB", "the 80.00 GiB of NVIDIA A100-SXM4-80GB", "23.41 GiB (600.0 MiB of --reserve taken off)".
  std::string text() const;
};

/// Why a text is no memory and cannot be the name of a device; "" where it may be either.
std::string wrongLimit(const std::string& text);
/// Why --reserve is not understood, or has no meaning beside the other options; "": it is fine, or not there. `limited`: the
/// command has a memory to take it off.
std::string wrongReserve(const std::string& reserve, const std::string& backend, bool limited);
/// --reserve, which is not wrong: bytes.
std::uint64_t reserveOf(const std::string& reserve);
/// --max and --reserve: "24GiB", "h100", the name of a record of the program, each with `:upper`, `:reserved` or neither. Errors:
/// the exit status, after saying why.
tl::expected<FitLimit, Failed> readLimit(Workspace& workspace, const std::string& max, const std::string& reserve);
/// What a device's tensors can have.
FitLimit limitOf(const estimate::Device& device, std::uint64_t reserve);

}  // namespace tbem::driver
