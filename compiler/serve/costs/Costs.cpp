#include "compiler/serve/costs/Costs.h"

#include "compiler/estimate/Estimate.h"
#include "compiler/pipeline/Stages.h"
#include "runtime/measure/Meters.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tbem::serve {

namespace {

/// Hands on what happens, and ends the work when it has taken too long.
class Limited final : public Events {
public:
  struct TimeIsUp {};
  explicit Limited(Events& listener) : listener(listener), end(measure::monotonicSeconds() + kLongest) {}
  void stageBegins(std::string_view name, std::string_view help) override {
    listener.stageBegins(name, help);
    look();
  }
  void progress(std::size_t done, std::size_t total, std::string_view what) override {
    listener.progress(done, total, what);
    look();
  }

private:
  void look() const {
    if (measure::monotonicSeconds() > end) throw TimeIsUp();
  }
  Events& listener;
  double end;
};

/// The work of one call: the first row of each design, one after the other.
class Coster {
public:
  explicit Coster(driver::PipelineState& state) : state(state) {}

  Costs all() {
    try {
      elaborate();
      plan();
    } catch (const Limited::TimeIsUp&) {
      // What is there by then is told.
    }
    Costs costs;
    for (const Subject& subject : subjects) {
      if (subject.row == nullptr) continue;
      if (auto one = costsOf(subject)) costs.designs.push_back(std::move(*one));
    }
    std::ranges::sort(costs.designs, {}, [](const DesignCosts& one) { return one.place.begin; });
    return costs;
  }

private:
  struct Subject {
    driver::DesignRun* run = nullptr;
    const ast::Decl* decl = nullptr;
    driver::RowState* row = nullptr;  ///< nullptr: not elaborated
  };

  /// The first row of each design and training. Rows of the state are those whose memory is to be planned.
  void elaborate() {
    for (const auto& run : state.designs.runs) subjects.push_back({run.get(), run->spec.decl});
    for (const auto& training : state.trainings) subjects.push_back({training->step.get(), training->spec.decl});
    std::erase_if(subjects, [](const Subject& one) { return one.run->experiment == nullptr || one.run->chosen.empty(); });
    state.rows.reserve(subjects.size());
    large.reserve(subjects.size());
    for (Subject& subject : subjects) {
      state.events.progress(0, 0, "the first row");
      driver::RowState row;
      row.run = subject.run;
      row.row = subject.run->chosen.front();
      row.elaborated = driver::elaborateRow(*row.run, row.row);
      if (!row.elaborated) continue;
      const bool isLarge = row.elaborated->graph().ops.size() > kMostPlanned;
      std::vector<driver::RowState>& rows = isLarge ? large : state.rows;
      rows.push_back(std::move(row));
      subject.row = &rows.back();
    }
    state.done.insert("graph");
  }

  /// A row that no backend runs has no program, and its memory is counted from shapes.
  void plan() { static_cast<void>(runStages(state, "lower")); }

  std::optional<Piece> pieceOf(SrcRange range) const {
    const Source& source = *state.workspace->file().source;
    const Loc end = static_cast<Loc>(source.base + source.text.size());
    if (!range.valid() || range.begin < source.base || range.end > end) return std::nullopt;
    return Piece{range.begin - source.base, range.end - source.base};
  }

  std::optional<DesignCosts> costsOf(const Subject& subject) const {
    const driver::RowState& row = *subject.row;
    const auto estimate =
        estimate::estimateRow(row.elaborated->graph(), row.elaborated->values, row.program ? &*row.program : nullptr);
    const std::optional<Piece> place = pieceOf(subject.decl->name.range);
    if (!estimate || !place) return std::nullopt;
    DesignCosts costs;
    costs.name = subject.decl->name.text;
    costs.place = *place;
    costs.rows = subject.run->chosen.size();
    costs.training = subject.decl->kind == ast::NodeKind::Train;
    costs.levels = subject.run->spec.factors.empty() ? "" : subject.run->levelsText(row.row);
    costs.parameters = estimate->flops.parameters;
    costs.forward = estimate->flops.most.forward;
    costs.step = estimate->flops.most.step();
    costs.memory = estimate->device ? estimate->device->arena : estimate->memory.bytes;
    costs.backend = estimate->device ? estimate->device->backend : "";
    costs.unknownWorkspaces = estimate->device ? estimate->device->unknownWorkspaces : 0;
    costs.peak = {estimate->peak.name, estimate->peak.scope, pieceOf(estimate->peak.range)};
    costs.calls = callCosts(*state.workspace, *row.elaborated);
    return costs;
  }

  driver::PipelineState& state;
  std::vector<Subject> subjects;
  std::vector<driver::RowState> large;  ///< rows that are not planned
};

}  // namespace

Costs costsOf(const std::string& path, std::string text, const sema::LoadOptions& load, Events& events) {
  driver::Request request;
  request.program.files = {path};
  Limited limited(events);
  driver::PipelineState state(request, limited);
  state.tellsUnbuilt = false;
  state.workspace = driver::workspaceOf(path, path, std::move(text), load);
  state.bugContext.emplace(programOf, &state.workspace->session);
  if (state.sink().hasErrors()) return {};
  state.done.insert("load");
  try {
    if (!runStages(state, "design") || state.sink().hasErrors()) return {};
  } catch (const Limited::TimeIsUp&) {
    return {};
  }
  return Coster(state).all();
}

}  // namespace tbem::serve
