#include "compiler/session/CompileSession.h"

#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/sema/Kept.h"
#include "compiler/verify/KeptAnswers.h"

#include <algorithm>
#include <utility>

namespace tbem::session {

bool Checked::hasErrors() const {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& one) { return one.severity == Severity::Error; });
}

namespace {

class StageListener final : public Events {
public:
  /// Must outlive this.
  explicit StageListener(const CompileSession::Passed& passed) : passed(passed) {}
  void stageEnds(std::string_view name, double /*seconds*/) override { passed(name); }

private:
  const CompileSession::Passed& passed;
};

}  // namespace

struct CompileSession::Impl {
  sema::LoadOptions load;
  Passed passed;
  sema::KeptModules modules;
  driver::KeptAnswers answers;

  std::unique_ptr<driver::Workspace> checked(const std::string& path, std::string text, sema::KeptModules& kept);
};

/// The program, checked: what there is to say is in its session.
std::unique_ptr<driver::Workspace> CompileSession::Impl::checked(const std::string& path, std::string text,
                                                                 sema::KeptModules& kept) {
  driver::Request request;
  request.program.files = {path};
  StageListener listener(passed);
  driver::PipelineState state(request, listener);
  state.tellsUnbuilt = false;
  state.keptAnswers = &answers;
  state.workspace = std::make_unique<driver::Workspace>();
  driver::Workspace& workspace = *state.workspace;
  workspace.path = path;
  workspace.load = load;
  state.bugContext.emplace(programOf, &workspace.session);
  const Source& source = workspace.session.sources.add(path, std::move(text));
  workspace.program = sema::load(workspace.session.sources, workspace.session.sink, source, workspace.load, kept);
  passed("load");
  if (!state.sink().hasErrors()) {
    answers.begin(workspace);
    state.done.insert("load");
    if (driver::checkAll(state)) passed("beyond");
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
