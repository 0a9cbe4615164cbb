#include "compiler/show/proofs/ProofReport.h"

#include "compiler/show/proofs/DesignProofReport.h"
#include "compiler/show/proofs/NetworkProofReport.h"
#include "compiler/show/proofs/ProcessReport.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tbem::driver {

namespace {

/// One line with the count, or with --json a `residual` object, which is there where nothing is left too.
void printResidual(show::Out& out, const Proofs& proofs, bool strict) {
  const Residual left = proofs.residual();
  if (out.display.json) {
    out.json("residual", {{"count", left.count()},
                          {"conditions", left.conditions},
                          {"networks", left.networks},
                          {"designs", left.designs},
                          {"ended_by_work", proofs.endedByWork},
                          {"strict", strict}});
    return;
  }
  if (left.count() == 0) return;
  std::string parts;
  const auto add = [&](std::size_t count, const char* word) {
    if (count != 0) parts += fmt::format("{}{} {}{}", parts.empty() ? "" : ", ", count, word, count == 1 ? "" : "s");
  };
  add(left.conditions, "condition");
  add(left.networks, "network");
  add(left.designs, "design");
  out.say("residual: {} ({}): neither proved nor refuted{}{}\n", left.count(), parts,
          proofs.endedByWork ? "; the limit of work for proofs ended them (--effort gives more)" : "",
          strict ? "" : "; --strict makes this exit 5");
}

}  // namespace

void printProofs(show::Out& out, const Workspace& workspace, const Proofs& proofs, bool strict) {
  if (!out.display.sarif) {
    for (const spec::CheckedProcess& process : proofs.processes) printProcess(out, workspace, process);
    for (const NetworkProof& network : proofs.networks) printNetworkProof(out, network);
    for (const DesignProof& design : proofs.designs) printDesignProof(out, design);
  }
  if (proofs.nothing) out.note("the program has no process, no network and no design of one");
  if (!out.display.sarif) printResidual(out, proofs, strict);
}

}  // namespace tbem::driver
