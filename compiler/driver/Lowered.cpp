#include "compiler/driver/Lowered.h"

#include <fmt/format.h>

namespace tbem::driver {

int threadsOf(const Options& options, const tbem_device_info& device) {
  if (options.threads != 0) return static_cast<int>(options.threads);
  return device.threads > 0 ? device.threads : 1;
}

estimate::LowerOptions lowerOptions(const Options& options, const tbem_device_info& device, estimate::QueryCache* cache) {
  estimate::LowerOptions lower;
  lower.threads = threadsOf(options, device);
  lower.cache = cache;
  return lower;
}

std::optional<LoweredRow> lowerRow(Workspace& workspace, DesignRun& run, std::size_t row, const tbem_backend& backend,
                                   const estimate::LowerOptions& options) {
  std::optional<graph::Row> elaborated = elaborateRow(run, row);
  if (!elaborated) return std::nullopt;
  auto program = estimate::lower(elaborated->graph(), elaborated->values, backend, options);
  if (!program) {
    program.error().report(workspace.session.sink);
    return std::nullopt;
  }
  return LoweredRow{std::move(*elaborated), std::move(*program)};
}

tl::expected<jit::Compiled, std::string> compileRow(const LoweredRow& lowered, const jit::JitOptions& options) {
  auto compiled = jit::compile(lowered.program, options);
  if (!compiled) return tl::unexpected(compiled.error().message);
  const auto described = jit::describeStorages(lowered.program, lowered.row.graph(), lowered.row.values, compiled->executable);
  if (!described) return tl::unexpected(described.error());
  return std::move(*compiled);
}

std::optional<SrcRange> firstGate(const graph::Graph& graph) {
  for (const graph::Op& op : graph.ops) {
    if (op.kind == graph::OpKind::Skip || op.kind == graph::OpKind::Exit) return op.range;
  }
  return std::nullopt;
}

}  // namespace tbem::driver
