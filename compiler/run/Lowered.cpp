#include "compiler/run/Lowered.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/jit/glue/CacheFile.h"
#include "compiler/run/OwnLibraries.h"
#include "runtime/report/Numbers.h"

#include <utility>

namespace tbem::driver {

int threadsOf(const Target& target, const tbem_device_info& device) {
  if (target.threads != 0) return static_cast<int>(target.threads);
  return device.threads > 0 ? device.threads : 1;
}

estimate::LowerOptions lowerOptions(Events& events, const Target& target, const Opened& opened, estimate::QueryCache* cache,
                                    const Tuning& tuning) {
  estimate::LowerOptions lower;
  lower.threads = threadsOf(target, opened.device);
  lower.cache = cache;
  lower.keepGradients = target.keepGradients;
  if (tuning.times()) lower.choices = &opened.choices;
  if (tuning.kind == Tuning::Kind::Within) lower.arenaGrowth = tuning.percent / 100;
  lower.ownWorkspace = ownWorkspaces(events, target);
  return lower;
}

void noteRefusedChoices(Events& events, const Tuning& tuning, Opened& opened) {
  if (!tuning.times() || opened.choicesRefused.empty()) return;
  events.note(notBelieved(std::exchange(opened.choicesRefused, {})));
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
