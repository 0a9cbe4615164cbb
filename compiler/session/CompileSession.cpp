#include "compiler/session/CompileSession.h"

#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/sema/Kept.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/verify/KeptAnswers.h"
#include "runtime/measure/Meters.h"

#include <utility>

namespace tbem::session {

struct CompileSession::Impl {
  sema::LoadOptions load;
  Events nobody;
  Events& events;
  sema::KeptModules modules;
  driver::KeptAnswers answers;
  std::unique_ptr<driver::Workspace> workspace;  ///< nullptr: nothing was read, or a bug ended its check

  explicit Impl(sema::LoadOptions load, Events* listener)
      : load(std::move(load)), events(listener != nullptr ? *listener : nobody) {}
  void check();
};

CompileSession::CompileSession(sema::LoadOptions load, Events& events) : impl(new Impl(std::move(load), &events)) {}
CompileSession::CompileSession() : impl(new Impl({}, nullptr)) {}
CompileSession::~CompileSession() = default;

const driver::Workspace& CompileSession::read(const std::string& path, std::string text) {
  if (impl->workspace != nullptr && !impl->load.stdlib) sema::keep(std::move(impl->workspace->program), impl->modules);
  impl->workspace = std::make_unique<driver::Workspace>();
  driver::Workspace& workspace = *impl->workspace;
  workspace.path = path;
  workspace.load = impl->load;
  workspace.load.pastSyntax = true;
  const Source& source = workspace.session.sources.add(path, std::move(text));
  const BugContext bugs(programOf, &workspace.session);
  // Modules that the program has are gone from those that are kept: where it ends by an exception, none is kept.
  sema::KeptModules modules = std::exchange(impl->modules, {});
  try {
    impl->events.stageBegins("load", "");
    const double start = measure::monotonicSeconds();
    workspace.program = sema::load(workspace.session.sources, workspace.session.sink, source, workspace.load, modules);
    impl->events.stageEnds("load", measure::monotonicSeconds() - start);
  } catch (...) {
    impl->workspace = nullptr;
    throw;
  }
  impl->modules = std::move(modules);
  return workspace;
}

/// The stages behind `load` on the program, which the state has meanwhile.
void CompileSession::Impl::check() {
  driver::Request request;
  request.program.files = {workspace->path};
  driver::PipelineState state(request, events);
  state.tellsUnbuilt = false;
  state.keptAnswers = &answers;
  state.workspace = std::move(workspace);
  state.bugContext.emplace(programOf, &state.workspace->session);
  try {
    if (!state.sink().hasErrors()) {
      answers.begin(*state.workspace);
      state.done.insert("load");
      if (driver::checkAll(state)) events.stageEnds("beyond", 0);
    }
  } catch (const Bug&) {
    modules = {};
    throw;
  } catch (...) {
    workspace = std::move(state.workspace);
    throw;
  }
  mergeRepeats(state.sink());
  workspace = std::move(state.workspace);
}

CompileSession::Parts CompileSession::parts() const {
  const driver::KeptAnswers::Counts& counts = impl->answers.counts();
  return {counts.questions, counts.worked};
}

void CompileSession::evaluate(const std::string& name, std::string text, Evaluation& into) {
  TBEM_CHECK(impl->workspace != nullptr);
  Session& session = impl->workspace->session;
  const sema::Program& program = *impl->workspace->program;
  const Source& source = session.sources.add(name, std::move(text));
  const std::size_t before = session.sink.errorCount();
  into.file = syntax::parse(source, session.sink);
  into.value = {};
  if (session.sink.errorCount() != before || into.file->expression == nullptr) return;
  std::vector<sema::Local> locals;
  for (const NamedValue& named : into.names) {
    sema::Local local;
    local.name = named.name;
    local.value = named.value;
    locals.push_back(std::move(local));
  }
  sema::Evaluator evaluator(program, into.pool, session.sink);
  into.value = evaluator.evaluateIn(program.main(), *into.file->expression, std::move(locals));
}

void CompileSession::keepSaid(const std::function<bool(const Diagnostic&)>& stays) {
  TBEM_CHECK(impl->workspace != nullptr);
  keepOnly(impl->workspace->session.sink, stays);
}

const Session& CompileSession::check() {
  TBEM_CHECK(impl->workspace != nullptr);
  impl->check();
  return impl->workspace->session;
}

}  // namespace tbem::session
