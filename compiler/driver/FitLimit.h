// `--max` of estimate and fit: a memory, or a device whose memory it is.
#pragma once

#include "compiler/driver/Devices.h"
#include "compiler/driver/Pipeline.h"

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
  std::uint64_t bytes = 0;  ///< of a device: what it has, less what a process was measured to take beside its tensors
  bool upper = false;       ///< as in LimitText
  bool reserved = false;    ///< as in LimitText
};

struct FitLimit : MemoryLimit {
  std::optional<estimate::Device> device;
  std::string unmeasured;  ///< of the device: "context, handles, kernels"
  /// "24.00 GiB", "the 80.00 GiB of NVIDIA H100-SXM5-80GB".
  std::string text() const;
};

/// Why a text is no memory and cannot be the name of a device; "" where it may be either.
std::string wrongLimit(const std::string& text);
/// "24GiB", "h100", the name of a record of the program, each with `:upper`, `:reserved` or neither. Errors: the exit status,
/// after saying why.
tl::expected<FitLimit, int> readLimit(State& state, const std::string& text);
/// What a device's tensors can have.
FitLimit limitOf(const estimate::Device& device);

}  // namespace tbem::driver
