#include "compiler/verify/CheckNetworks.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/verify/KeptAnswers.h"
#include "compiler/verify/NetworkTrial.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tbem::driver {

namespace {

/// By word: in how many of the texts it stands.
class WordCounts {
public:
  void add(std::string_view text) {
    std::unordered_set<std::string_view> seen;
    for (auto at = text.begin(); at != text.end();) {
      const auto begin = std::find_if(at, text.end(), inWord);
      at = std::find_if_not(begin, text.end(), inWord);
      if (begin == at) break;
      const std::string_view word =
          text.substr(static_cast<std::size_t>(begin - text.begin()), static_cast<std::size_t>(at - begin));
      if (seen.insert(word).second) ++counts[word];
    }
  }
  std::size_t of(std::string_view word) const {
    const auto found = counts.find(word);
    return found != counts.end() ? found->second : 0;
  }

private:
  std::unordered_map<std::string_view, std::size_t> counts;
};

/// The mistakes of building the trial's row; the session's own stay as they were.
std::vector<Diagnostic> build(Workspace& workspace, const Trial& trial, const Target& target) {
  std::vector<Diagnostic> mistakes;
  const std::deque<Diagnostic> made = reportsOf(workspace.session.sink, [&] {
    const std::unique_ptr<TrialDesign> design = designOf(workspace, trial, target);
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
    const std::vector<Diagnostic> mistakes = build(*state.workspace, *trial, state.request.target);
    if (mistakes.empty()) {
      if (state.tellsUnbuilt)
        state.events.note(fmt::format("network `{}`: checked without a design, with {}", name,
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
  if (state.tellsUnbuilt)
    state.events.note(
        fmt::format("network `{}`: no design builds it, so only names were checked ({}); --input gives it sizes", name, why));
}

}  // namespace

void checkNetworks(State& state) {
  Workspace& workspace = *state.workspace;
  const std::vector<const ast::Callable*> callables = workspace.all<ast::Callable>();
  WordCounts designs, own;
  for (const auto& run : state.designs.runs) designs.add(workspace.session.sources.text(run->spec.decl->range));
  for (const ast::Callable* callable : callables) own.add(workspace.session.sources.text(callable->range));
  for (const ast::Callable* callable : callables) {
    const std::string& name = callable->name.text;
    // Its own declaration holds its name.
    if (callable->callable != ast::CallableKind::Network || designs.of(name) != 0 || own.of(name) > 1) continue;
    const auto check = [&] {
      checkNetwork(state, *callable);
      return true;
    };
    if (state.keptAnswers != nullptr)
      state.keptAnswers->look({CheckedPart::Network, callable}, state.sink(), check);
    else
      check();
  }
}

}  // namespace tbem::driver
