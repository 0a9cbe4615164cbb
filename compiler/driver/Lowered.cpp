#include "compiler/driver/Lowered.h"

namespace tbem::driver {

int threadsOf(const Options& options, const tbem_device_info& device) {
  if (options.threads != 0) return static_cast<int>(options.threads);
  return device.threads > 0 ? device.threads : 1;
}

estimate::LowerOptions lowerOptions(const Options& options, const Opened& opened, estimate::QueryCache* cache) {
  estimate::LowerOptions lower;
  lower.threads = threadsOf(options, opened.device);
  lower.cache = cache;
  if (options.tune != "off") lower.choices = &opened.choices;
  return lower;
}

tl::expected<jit::Compiled, std::string> compileRow(const graph::Row& row, const estimate::Program& program,
                                                    const jit::JitOptions& options) {
  auto compiled = jit::compile(program, options);
  if (!compiled) return tl::unexpected(compiled.error().message);
  const auto described = jit::describeStorages(program, row.graph(), row.values, compiled->executable);
  if (!described) return tl::unexpected(described.error());
  return std::move(*compiled);
}

}  // namespace tbem::driver
