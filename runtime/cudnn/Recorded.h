// What answers where no cuDNN can be opened: what it was recorded to say of the convolutions of the library's networks, and a
// model of the rest.
#pragma once

#include "runtime/cudnn/Convolution.h"
#include "runtime/cudnn/Properties.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::cudnn {

/// A table as test/bench/record_workspaces.py writes it: a line that names cuDNN and the day; for each device a line
/// `device CAPABILITY CLOCK MEMORY_CLOCK NAME` (kHz) and a line for each convolution: its numbers (x, out, kernel, stride, pad,
/// dilation, groups) and then an answer for each pass, element type (f32, bf16) and order. An answer is `-` or `BYTES[,BYTES]`:
/// the workspace of the first deterministic engine, and of the smallest where it needs less; `t` behind it: on tensor cores.
/// Which engine it was is not kept: their numbers are -1.
struct Recorded {
  std::string made;  ///< "cuDNN 9.19.0 2026-11-22"
  /// By device (capability, clocks) and the problem's line.
  std::map<std::array<std::int64_t, 3>, std::map<std::string, std::vector<Engine>, std::less<>>> devices;

  /// The engines of a problem on a device; nothing where it was not recorded.
  const std::vector<Engine>* find(const DeviceProperties& device, const Convolution& problem) const;
};

/// Nothing where the text is no such table.
std::optional<Recorded> readRecorded(std::string_view text);
/// The table that is part of this program.
const Recorded& recordedTable();
/// What it has of one device, which is read when it is first asked for.
const Recorded& recordedTable(const DeviceProperties& device);

/// One engine (its number is -1) with the workspace of the usual one: engines want the channels innermost, so in NCHW a copy of
/// each of the three tensors; nothing in NHWC, and nothing for a depthwise convolution. How near that is: docs/devices.md.
std::vector<Engine> modelled(const Convolution& problem);

}  // namespace tbem::cudnn
