// Allocator histories in files: PyTorch's snapshots (pickle), and JSON lines of one history each.
#pragma once

#include "compiler/pytorch/allocator/SnapshotFile.h"
#include "runtime/data/File.h"

#include <tl/expected.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// A history in one line of JSON: `events` of [action, address, bytes, stream, pool], the action a place in `actions`; pool may
/// be missing; `settings` as in a snapshot, or null; `phases` {name: events up to its end}; `torch`; `segments`; `case`, its
/// name.
tl::expected<estimate::AllocatorTrace, std::string> readJsonTrace(std::string_view line);

/// The histories of a file, which is kept for what they point at.
struct TraceFile {
  std::vector<estimate::AllocatorTrace> traces;
  estimate::Snapshot snapshot;  ///< of a pickle; its cards are in `traces`
  std::unique_ptr<data::MappedFile> mapped;
  std::unique_ptr<std::string> unpacked;
};
/// Pickle or JSON lines, plain or packed by gzip. Errors: the file, the place, the cause and the way out.
tl::expected<TraceFile, std::string> readTraceFile(const std::string& path, data::MappedFile mapped);

}  // namespace tbem::driver
