#include "compiler/driver/CheckNetworks.h"

#include "compiler/driver/NetworkTrial.h"
#include "compiler/support/Aside.h"
#include "compiler/support/diagnostics/Graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tbem::driver {

namespace {

bool holdsWord(std::string_view text, std::string_view word) { return findWord(text, word) != std::string_view::npos; }

/// The mistakes of building the trial's row; the session's own stay as they were.
std::vector<Diagnostic> build(Workspace& workspace, const Trial& trial, const Options& options) {
  std::vector<Diagnostic> mistakes;
  const std::deque<Diagnostic> made = reportsOf(workspace.session.sink, [&] {
    const std::unique_ptr<TrialDesign> design = designOf(workspace, trial, options);
    if (design != nullptr) design->experiment.row({});
  });
  std::copy_if(made.begin(), made.end(), std::back_inserter(mistakes),
               [](const Diagnostic& one) { return one.severity == Severity::Error; });
  return mistakes;
}

void checkNetwork(State& state, const ast::Callable& network) {
  const std::string& name = network.name.text;
  std::string why;
  for (const int size : kTrialSizes) {
    const auto trial = trialOf(TrialSubject::of(network), state.workspace->session.sources, size, TrialSizes::Numbers, 0);
    if (!trial) {
      why = trial.error();
      break;
    }
    const std::vector<Diagnostic> mistakes = build(*state.workspace, *trial, state.options);
    if (mistakes.empty()) {
      if (!state.options.json)
        printNote(state.options, fmt::format("network `{}`: checked without a design, with {}", name,
                                             trial->sizes.empty() ? "its own sizes" : trial->sizes));
      return;
    }
    if (std::none_of(mistakes.begin(), mistakes.end(), [](const Diagnostic& d) { return dependsOnSizes(d.kind); })) {
      for (const Diagnostic& one : mistakes) {
        Diagnostic& told = state.sink().append(one);
        if (one.kind == diag::rank_mismatch && !trial->sizes.empty())
          told.note(fmt::format("no design gives sizes: tried with {}", trial->sizes));
      }
      return;
    }
    if (why.empty()) why = fmt::format("with {}: {}", trial->sizes, mistakes.front().message);
  }
  if (!state.options.json)
    printNote(
        state.options,
        fmt::format("network `{}`: no design builds it, so only names were checked ({}); --input gives it sizes", name, why));
}

}  // namespace

void checkNetworks(State& state) {
  Workspace& workspace = *state.workspace;
  for (const ast::Callable* callable : workspace.all<ast::Callable>()) {
    if (callable->callable != ast::CallableKind::Network) continue;
    const bool built = std::any_of(state.designs.runs.begin(), state.designs.runs.end(), [&](const auto& run) {
      return holdsWord(workspace.session.sources.text(run->spec.decl->range), callable->name.text);
    });
    const auto names = [&](const ast::Callable* other) {
      return other != callable && holdsWord(workspace.session.sources.text(other->range), callable->name.text);
    };
    const std::vector<const ast::Callable*> others = workspace.all<ast::Callable>();
    if (!built && std::none_of(others.begin(), others.end(), names)) checkNetwork(state, *callable);
  }
}

}  // namespace tbem::driver
