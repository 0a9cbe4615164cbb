#include "compiler/verify/LevelRemedies.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/verify/LevelProofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tbem::driver {

namespace {

using Kind = LevelRemedy::Kind;

class Mender {
public:
  Mender(const Workspace& workspace, const DesignRun& run, const spec::LevelProof& proof, const spec::Breach& breach,
         const Target& target, spec::Work& work)
      : workspace(workspace), run(run), proof(proof), breach(breach), target(target), work(work) {}

  std::vector<LevelRemedy> find() {
    tryArguments();
    tryLevels();
    tryWhere();
    return std::move(found);
  }

private:
  const Workspace& workspace;
  const DesignRun& run;
  const spec::LevelProof& proof;
  const spec::Breach& breach;
  const Target& target;
  spec::Work& work;
  std::vector<LevelRemedy> found;

  const Source& source() const { return *workspace.file().source; }
  std::string_view text(SrcRange range) const { return workspace.session.sources.text(range); }
  bool isOwn(SrcRange range) const { return workspace.session.sources.find(range.begin) == &source(); }

  /// The proof of the design in the changed program; nothing where that has mistakes.
  std::optional<spec::LevelProof> proofWith(const std::vector<Fix>& change) const {
    Diagnostic certain;
    certain.fixes = change;
    for (Fix& fix : certain.fixes) fix.applicability = Applicability::Certain;
    const std::unique_ptr<Workspace> changed = withText(workspace, applyFixes(source(), {certain}));
    if (changed->session.sink.hasErrors()) return std::nullopt;
    sema::checkNames(*changed->program, changed->session.sink);
    for (const ast::Design* decl : changed->all<ast::Design>()) {
      if (decl->name.text != run.spec.name) continue;
      const std::optional<graph::DesignSpec> spec = graph::readDesign(changed->session, *changed->program, *decl);
      if (!spec || changed->session.sink.hasErrors()) return std::nullopt;
      graph::Experiment experiment(changed->session, *changed->program, *spec, experimentOptions(target));
      return proofOf({*changed, *spec, experiment}, target, work);
    }
    return std::nullopt;
  }

  /// Whether it is no breach of the old program, or not this one.
  bool mends(const spec::LevelProof& changed) const {
    if (changed.verdict != spec::Verdict::Proved && changed.verdict != spec::Verdict::Refuted) return false;
    return std::all_of(changed.breaches.begin(), changed.breaches.end(), [&](const spec::Breach& one) {
      const auto same = [&](const spec::Breach& other) { return one.subject == other.subject && one.text == other.text; };
      return !same(breach) && std::any_of(proof.breaches.begin(), proof.breaches.end(), same);
    });
  }

  bool take(Kind kind, std::string words, std::vector<Fix> change) {
    if (work.isSpent()) return false;
    const std::optional<spec::LevelProof> changed = proofWith(change);
    if (!changed || !mends(*changed)) return false;
    found.push_back({kind, std::move(words), std::move(change), changed->combinations});
    return true;
  }

  // ---- Other arguments ----

  /// `pad` of the calls with a `kernel` in the expression that breaks.
  void tryArguments() {
    if (!isOwn(breach.use)) return;
    Session trial;
    const Source& piece = trial.sources.add("<call>", std::string(text(breach.use)));
    const std::unique_ptr<ast::File> file = syntax::parse(piece, trial.sink);
    if (trial.sink.hasErrors() || file->expression == nullptr) return;
    const auto here = [&](Loc inPiece) { return breach.use.begin + (inPiece - piece.base); };
    bool done = false;
    sema::forEachInside(*file->expression, [&](const ast::Expr& expr) {
      const auto* call = ast::dynCast<ast::Call>(&expr);
      if (done || call == nullptr) return;
      const ast::Argument* kernel = argument(*call, "kernel");
      if (kernel == nullptr || kernel->value == nullptr) return;
      std::string size(trial.sources.text(kernel->value->range));
      if (kernel->value->kind != ast::NodeKind::NameRef && kernel->value->kind != ast::NodeKind::Number) size = "(" + size + ")";
      const ast::Argument* pad = argument(*call, "pad");
      for (const std::string& value : {size + " div 2", fmt::format("({} - 1) div 2", size)}) {
        const Loc end = here(call->range.end) - 1;  // the closing parenthesis
        const Fix fix = pad != nullptr && pad->value != nullptr
                            ? Fix{{here(pad->value->range.begin), here(pad->value->range.end)}, value}
                            : Fix{{end, end}, ", pad: " + value};
        const auto* callee = ast::dynCast<ast::NameRef>(call->callee);
        const std::string of = callee != nullptr ? " of `" + callee->name.text + "`" : "";
        done = done || take(Kind::Argument, fmt::format("`pad: {}`{}", value, of), {fix});
      }
    });
  }

  static const ast::Argument* argument(const ast::Call& call, std::string_view name) {
    const auto at = std::find_if(call.arguments.begin(), call.arguments.end(),
                                 [&](const ast::Argument& one) { return one.name.text == name; });
    return at == call.arguments.end() ? nullptr : &*at;
  }

  // ---- Levels that go ----

  /// The levels of a factor outside of which nothing breaks; empty where there are none, or nothing would stay.
  std::vector<std::uint32_t> guilty(std::uint32_t factor) const {
    std::vector<std::uint32_t> levels;
    for (const std::vector<spec::Cause>& cause : breach.causes) {
      const auto one = std::find_if(cause.begin(), cause.end(), [&](const spec::Cause& c) { return c.factor == factor; });
      if (one == cause.end()) return {};
      levels.insert(levels.end(), one->levels.begin(), one->levels.end());
    }
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    const auto values = run.spec.factors[factor].values();
    const bool some = levels.size() < values.size() && (levels.empty() || levels.back() < values.size());
    return some ? levels : std::vector<std::uint32_t>{};
  }

  /// The factor that loses the smallest share of its levels first.
  void tryLevels() {
    if (!breach.allCauses || breach.causes.empty()) return;
    std::vector<std::uint32_t> order(run.spec.factors.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto share = [&](std::uint32_t f) {
      return static_cast<double>(guilty(f).size()) / static_cast<double>(run.spec.factors[f].levels.size());
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return share(a) < share(b); });
    for (const std::uint32_t factor : order) {
      const std::vector<std::uint32_t> drop = guilty(factor);
      if (!drop.empty() && tryWithout(factor, drop)) return;
    }
  }

  bool tryWithout(std::uint32_t factor, const std::vector<std::uint32_t>& drop) {
    const graph::FactorSpec& spec = run.spec.factors[factor];
    const auto decl = std::find_if(run.spec.decl->factors.begin(), run.spec.decl->factors.end(),
                                   [&](const ast::Factor& one) { return one.name.text == spec.name; });
    if (decl == run.spec.decl->factors.end()) return false;
    std::string kept, gone;
    for (std::uint32_t i = 0; i < spec.values().size(); ++i) {
      const graph::Level& level = spec.levels[i];
      const bool stays = std::find(drop.begin(), drop.end(), i) == drop.end();
      std::string& list = stays ? kept : gone;
      list += (list.empty() ? "" : ", ") + level.text;
    }
    const Fix fix = decl->levels.empty() ? Fix{{decl->name.range.end, decl->name.range.end}, ": " + kept}
                                         : Fix{{decl->levels.front()->range.begin, decl->levels.back()->range.end}, kept};
    return take(Kind::Levels, fmt::format("`factor {}: {}` (without {})", spec.name, kept, gone), {fix});
  }

  // ---- A condition on rows ----

  void tryWhere() {
    if (!breach.allCauses || breach.causes.empty() || run.spec.decl->factors.empty()) return;
    std::string where;
    for (const std::vector<spec::Cause>& cause : breach.causes) {
      std::string one;
      for (const spec::Cause& part : cause) one += (one.empty() ? "" : " and ") + part.condition;
      if (one.empty()) return;
      where += fmt::format("{}not ({})", where.empty() ? "" : " and ", one);
    }
    const Loc end = run.spec.decl->factors.back().range.end;
    take(Kind::Where, fmt::format("`where {}`", where), {{{end, end}, "\n  where " + where}});
  }
};

}  // namespace

const char* word(Kind kind) {
  switch (kind) {
    case Kind::Argument:
      return "argument";
    case Kind::Levels:
      return "levels";
    case Kind::Where:
      return "where";
  }
  return "";
}

std::vector<LevelRemedy> remediesFor(const Workspace& workspace, const DesignRun& run, const spec::LevelProof& proof,
                                     const spec::Breach& breach, const Target& target, spec::Work& work) {
  return Mender(workspace, run, proof, breach, target, work).find();
}

}  // namespace tbem::driver
