// A row made ready for a device: its graph, its program, its native code.
#pragma once

#include "compiler/driver/Designs.h"
#include "compiler/estimate/Lower.h"
#include "compiler/jit/Jit.h"
#include "runtime/core/Executable.h"

#include <memory>
#include <optional>
#include <string>

namespace tbem::driver {

struct LoweredRow {
  graph::Row row;
  estimate::Program program;
};

/// What the options say of lowering on this backend. `device`: as probed.
estimate::LowerOptions lowerOptions(const Options& options, const tbem_device_info& device, estimate::QueryCache* cache);
/// Threads that a run uses: --threads, else the device's.
int threadsOf(const Options& options, const tbem_device_info& device);

/// Elaborates and lowers a row; nothing after a diagnostic.
std::optional<LoweredRow> lowerRow(Workspace& workspace, DesignRun& run, std::size_t row, const tbem_backend& backend,
                                   const estimate::LowerOptions& options);

/// Native code of a lowered row with everything the runtime needs to know. Errors: in words.
tl::expected<jit::Compiled, std::string> compileRow(const LoweredRow& lowered, const jit::JitOptions& options);

/// Gates, which estimates know and native code does not yet: their first use, or nothing.
std::optional<SrcRange> firstGate(const graph::Graph& graph);

}  // namespace tbem::driver
