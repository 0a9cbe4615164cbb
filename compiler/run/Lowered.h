// Rows made ready for a device: what the options say of lowering, and native code with everything the runtime needs.
#pragma once

#include "compiler/backends/Backends.h"
#include "compiler/backends/Tuning.h"
#include "compiler/experiment/designs/Designs.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/lower/recompute/Recompute.h"
#include "compiler/support/Events.h"

#include <optional>
#include <string>

namespace tbem::driver {

/// Threads that a run uses: --threads, else the device's.
int threadsOf(const Target& target, const tbem_device_info& device);
/// What the options say of lowering on this backend; all must outlive the result.
estimate::LowerOptions lowerOptions(Events& events, const Target& target, const Opened& opened, estimate::QueryCache* cache,
                                    const Tuning& tuning);

/// Says once that a file of timed algorithms is not believed, where those algorithms would have been taken.
void noteRefusedChoices(Events& events, const Tuning& tuning, Opened& opened);

/// The row lowered for this backend. Where its design has a clause `checkpoint`, `row`'s graph becomes the one whose backward
/// pass computes activations again, and `report`, if there is one, says which.
tl::expected<estimate::Program, estimate::LowerError> lowerRow(graph::Row& row, const graph::ExperimentSpec& spec,
                                                               const tbem_backend& backend, const estimate::LowerOptions& options,
                                                               std::optional<estimate::Recomputation>* report = nullptr);

/// Native code of a lowered row, with its storages described. Errors: in words.
tl::expected<jit::Compiled, std::string> compileRow(const graph::Row& row, const estimate::Program& program,
                                                    const jit::JitOptions& options);

}  // namespace tbem::driver
