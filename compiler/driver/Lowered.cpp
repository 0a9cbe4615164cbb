#include "compiler/driver/Lowered.h"

#include "compiler/support/diagnostics/Plan.h"
#include "compiler/support/diagnostics/Run.h"
#include "runtime/core/Native.h"
#include "runtime/report/Numbers.h"

namespace tbem::driver {

int threadsOf(const Options& options, const tbem_device_info& device) {
  if (options.threads != 0) return static_cast<int>(options.threads);
  return device.threads > 0 ? device.threads : 1;
}

namespace {
/// Loads the library of an operator's own code, and asks it for its workspace.
tl::expected<std::uint64_t, estimate::LowerError> ownWorkspace(const graph::OwnCode& own, const tbem_native_args& args) {
  using Kind = runtime::NativeProblem::Kind;
  const auto code = runtime::loadNative(own.library, own.symbol);
  if (code) return code->workspace == nullptr ? 0 : code->workspace(&args);
  const Kind kind = code.error().kind;
  if (kind == Kind::NoSymbol)
    return tl::unexpected(estimate::LowerError{diag::own_symbol_missing, own.range, {own.library, own.symbol}});
  const Diag diag = kind == Kind::NoFile        ? diag::own_library_missing
                    : kind == Kind::NotLoadable ? diag::own_library_fails
                                                : diag::own_abi_differs;
  return tl::unexpected(estimate::LowerError{diag, own.range, {own.library, code.error().text}});
}
}  // namespace

estimate::LowerOptions lowerOptions(const Options& options, const Opened& opened, estimate::QueryCache* cache,
                                    const Tuning& tuning) {
  estimate::LowerOptions lower;
  lower.threads = threadsOf(options, opened.device);
  lower.cache = cache;
  lower.keepGradients = options.keepGradients;
  if (tuning.times()) lower.choices = &opened.choices;
  if (tuning.kind == Tuning::Kind::Within) lower.arenaGrowth = tuning.percent / 100;
  lower.ownWorkspace = ownWorkspace;
  return lower;
}

tl::expected<estimate::Program, estimate::LowerError> lowerRow(graph::Row& row, const graph::ExperimentSpec& spec,
                                                               const tbem_backend& backend, const estimate::LowerOptions& options,
                                                               std::optional<estimate::Recomputation>* report) {
  if (!spec.checkpoint || !row.structure->graph.training) return estimate::lower(row.graph(), row.values, backend, options);
  auto made = estimate::lowerCheckpointed(row.structure->graph, row.values, backend, options, *spec.checkpoint);
  if (!made) return tl::unexpected(made.error());
  if (!made->report.fits) {
    return tl::unexpected(estimate::LowerError{
        diag::checkpoint_unmet, spec.checkpoint->range, {report::bytes(*made->report.limit), report::bytes(made->report.arena)}});
  }
  row.recomputed = std::move(made->graph);
  if (report != nullptr) *report = std::move(made->report);
  return std::move(made->program);
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
