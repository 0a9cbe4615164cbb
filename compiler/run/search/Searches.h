// What perturbations, hardened trainings and attacked rows share: a method and its network as a search needs them.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/graph/perturb/Method.h"
#include "runtime/perturb/Perturb.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tbem::driver {

/// What an example costs in each branch of the network, and over all paths. `row`: at inference, counted before, of `batch`
/// examples.
void takeFlops(perturb::Victim& victim, const graph::Row& row, std::int64_t batch);

/// Tells the graphs of searches what each gate of the network decides about, by which their objectives weigh it. `network`: its
/// elaborated row at inference, of `batch` examples; nullptr among `searches` is left out. False: it has no gates.
bool weighGates(std::span<DesignRun* const> searches, const graph::Row& network, std::int64_t batch);

/// Reports that a network without gates cannot be slowed, and what each of its inputs takes. As weighGates.
void reportNoGates(DiagnosticSink& sink, SrcRange at, const graph::Row& network, std::int64_t batch);

/// A method as its run needs it, but for what it learns and its identity. `input`: of the network.
perturb::Method methodOf(const graph::MethodSpec& spec, const std::string& input, const runtime::Executable* mover);
/// How it learns, but for its executables; nothing where it does not. `train`: how many examples the training split has.
std::optional<perturb::Learning> learningOf(const graph::MethodSpec& spec, const std::string& input, std::int64_t train);

}  // namespace tbem::driver
