#include "compiler/verify/Proofs.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/verify/Specs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

/// The names of the program's processes and networks.
std::vector<std::string> subjectsOf(const Workspace& workspace) {
  std::vector<std::string> names;
  for (const ast::Decl* decl : workspace.file().declarations) {
    const auto* callable = ast::dynCast<ast::Callable>(decl);
    if (ast::dynCast<ast::Process>(decl) != nullptr || (callable != nullptr && callable->callable == ast::CallableKind::Network))
      names.push_back(decl->name.text);
  }
  return names;
}

/// A network given by -e stands in a design of its own.
bool isExpression(const State& state) {
  return state.request.program.text && state.workspace->file().source->text != *state.request.program.text;
}

std::size_t residualIn(const spec::CheckedProcess& process) {
  const auto left = std::ranges::count(process.findings, spec::Verdict::Residual, &spec::Finding::verdict);
  return static_cast<std::size_t>(left) + (process.parenthesesLost ? 1 : 0);
}

}  // namespace

Residual Proofs::residual() const {
  Residual left;
  for (const spec::CheckedProcess& process : processes) left.conditions += residualIn(process);
  for (const NetworkProof& network : networks) {
    left.conditions += network.proof.doubts.size();
    if (network.proof.verdict == spec::Verdict::Residual && network.proof.doubts.empty()) ++left.networks;
  }
  for (const DesignProof& design : designs) {
    left.conditions += design.proof.doubts.size();
    if (!design.proof.reason.empty() && design.proof.doubts.empty()) ++left.designs;
  }
  return left;
}

bool Proofs::against(bool strict) const {
  return (strict && residual().count() != 0) || std::ranges::any_of(processes, &spec::CheckedProcess::refuted) ||
         std::ranges::any_of(networks,
                             [](const NetworkProof& network) { return network.proof.verdict == spec::Verdict::Refuted; }) ||
         std::ranges::any_of(designs, [](const DesignProof& design) {
           return design.proof.verdict == spec::Verdict::Refuted && !design.isFiltered();
         });
}

tl::expected<Proofs, Failed> prove(State& state, const ProofRequest& request) {
  const Workspace& workspace = *state.workspace;
  if (const std::vector<std::string> names = subjectsOf(workspace);
      !request.only.empty() && std::ranges::find(names, request.only) == names.end())
    return failed(kUsage,
                  fmt::format("no process or network is called `{}`{}", request.only,
                              names.empty() ? "; the program has none" : ": there are " + nearestFew(request.only, names)));
  Proofs proofs;
  proofs.processes = checkProcesses(state, request.only);
  proofs.networks = isExpression(state) ? proveExpression(state) : proveNetworks(state, request.only);
  if (request.only.empty() && !isExpression(state)) {
    proofs.designs = proveDesigns(state, kManyStructures);
    proofs.nothing = workspace.all<ast::Process>().empty() && proofs.designs.empty() && proofs.networks.empty();
  }
  proofs.endedByWork = state.proofs.isSpent();
  return proofs;
}

}  // namespace tbem::driver
