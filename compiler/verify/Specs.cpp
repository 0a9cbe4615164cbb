#include "compiler/verify/Specs.h"

#include "compiler/verify/KeptAnswers.h"

#include <optional>
#include <string>
#include <utility>

namespace tbem::driver {

std::vector<spec::CheckedProcess> checkProcesses(State& state, std::string_view only) {
  Workspace& workspace = *state.workspace;
  spec::Work& work = state.proofs;
  KeptAnswers* const kept = state.keptAnswers;
  std::vector<spec::CheckedProcess> checked;
  for (const ast::Process* process : workspace.all<ast::Process>()) {
    if (!only.empty() && process->name.text != only) continue;
    const std::string text = "proving process " + process->name.text;
    work.told = [&] { state.events.progress(checked.size(), 0, text); };
    work.tell();
    std::optional<spec::CheckedProcess> one;
    const auto check = [&] {
      one = spec::checkProcess(workspace.session, *workspace.program, workspace.program->main(), *process, &work);
      return true;
    };
    if (kept != nullptr)
      kept->look({CheckedPart::Process, process}, workspace.session.sink, check, {}, &work);
    else
      check();
    if (one) checked.push_back(std::move(*one));
  }
  work.told = nullptr;
  return checked;
}

}  // namespace tbem::driver
