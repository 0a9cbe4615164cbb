#include "compiler/session/CompileSession.h"

#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/sema/Kept.h"
#include "compiler/verify/CleanParts.h"

#include <algorithm>
#include <utility>

namespace tbem::session {

bool Checked::hasErrors() const {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& one) { return one.severity == Severity::Error; });
}

struct CompileSession::Impl {
  sema::LoadOptions load;
  Passed passed;
  sema::KeptModules modules;
  driver::CleanParts clean;

  std::unique_ptr<driver::Workspace> checked(const std::string& path, std::string text, sema::KeptModules& kept);
};

/// The program, checked: what there is to say is in its session.
std::unique_ptr<driver::Workspace> CompileSession::Impl::checked(const std::string& path, std::string text,
                                                                 sema::KeptModules& kept) {
  driver::Request request;
  request.program.files = {path};
  Events nobody;
  driver::PipelineState state(request, nobody);
  state.tellsUnbuilt = false;
  state.clean = &clean;
  state.workspace = std::make_unique<driver::Workspace>();
  driver::Workspace& workspace = *state.workspace;
  workspace.path = path;
  workspace.load = load;
  state.bugContext.emplace(programOf, &workspace.session);
  const Source& source = workspace.session.sources.add(path, std::move(text));
  workspace.program = sema::load(workspace.session.sources, workspace.session.sink, source, workspace.load, kept);
  passed("load");
  if (!state.sink().hasErrors()) {
    clean.begin(workspace);
    state.done.insert("load");
    const auto told = [&](const driver::Stage& stage, double /*seconds*/, bool /*good*/) { passed(stage.name); };
    if (driver::checkAll(state, told)) passed("beyond");
  }
  mergeRepeats(state.sink());
  return std::move(state.workspace);
}

CompileSession::CompileSession(sema::LoadOptions load, Passed passed)
    : impl(new Impl{std::move(load), passed ? std::move(passed) : [](std::string_view) {}, {}, {}}) {}
CompileSession::~CompileSession() = default;

Checked CompileSession::check(const std::string& path, std::string text) {
  // Where the check ends by an exception, a part of the modules is gone with it.
  sema::KeptModules kept = std::exchange(impl->modules, {});
  const std::unique_ptr<driver::Workspace> workspace = impl->checked(path, std::move(text), kept);
  if (!impl->load.stdlib) sema::keep(std::move(workspace->program), kept);
  impl->modules = std::move(kept);
  const std::deque<Diagnostic>& told = workspace->session.sink.all();
  return {{told.begin(), told.end()}, std::move(workspace->session.sources)};
}

}  // namespace tbem::session
