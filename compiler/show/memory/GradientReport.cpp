#include "compiler/show/memory/GradientReport.h"

#include "compiler/run/Lowered.h"
#include "compiler/show/Out.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace tbem::driver {

namespace {

/// Of the gradients: bytes in all, and the most that are live at once.
struct GradientBytes {
  std::uint64_t all = 0, most = 0;
};

GradientBytes gradientBytes(const estimate::Program& program) {
  GradientBytes bytes;
  std::vector<std::int64_t> change(program.steps.size() + 1, 0);
  for (const estimate::Allocation& one : program.allocations) {
    if (one.kind != estimate::Kind::Gradients) continue;
    bytes.all += one.bytes;
    change[one.persistent ? 0 : one.first] += static_cast<std::int64_t>(one.bytes);
    if (!one.persistent) change[one.last + 1] -= static_cast<std::int64_t>(one.bytes);
  }
  std::int64_t live = 0;
  for (const std::int64_t step : change) {
    live += step;
    bytes.most = std::max(bytes.most, static_cast<std::uint64_t>(live));
  }
  return bytes;
}

/// What holds of a row's gradients, and the arena if all were kept to the end of the step.
struct GradientLives {
  GradientBytes bytes;
  bool kept = false;  ///< sums over micro-batches are, and all if that is asked
  std::uint64_t arenaKept = 0;
};

tl::expected<GradientLives, estimate::LowerError> livesOf(State& state, const RowState& row) {
  const graph::Graph& graph = row.elaborated->graph();
  GradientLives lives{gradientBytes(*row.program), graph.microBatches > 1 || state.request.target.keepGradients,
                      row.program->arena};
  if (lives.kept) return lives;
  estimate::LowerOptions options =
      lowerOptions(state.events, state.request.target, state.backend, &state.queries, row.run->tuning);
  options.keepGradients = true;
  const auto kept = estimate::lower(graph, row.elaborated->values, *state.backend.backend, options);
  if (!kept) return tl::unexpected(kept.error());
  lives.arenaKept = kept->arena;
  return lives;
}

std::string textOf(const GradientLives& lives, const RowState& row) {
  const std::string most =
      fmt::format("at most {} of {} live at once", report::bytes(lives.bytes.most), report::bytes(lives.bytes.all));
  if (lives.kept) {
    const std::int64_t parts = row.elaborated->graph().microBatches;
    const std::string why = parts > 1 ? fmt::format("since {} micro-batches add to them", parts) : "as --keep-gradients asks";
    return fmt::format("kept to the end of the step, {}: {}, arena {}", why, most, report::bytes(row.program->arena));
  }
  return fmt::format("freed with the update of their weights: {}, arena {}; kept to the end of the step it would be {}", most,
                     report::bytes(row.program->arena), report::bytes(lives.arenaKept));
}

}  // namespace

void explainGradients(show::Out& out, State& state) {
  for (const RowState& row : state.rows) {
    if (!row.program || !row.elaborated->graph().training) continue;
    const auto lives = livesOf(state, row);
    if (!lives) {
      lives.error().report(state.sink());
    } else if (out.display.json) {
      out.json("gradients", {{"design", row.run->spec.name},
                             {"row", row.row},
                             {"levels", row.run->levels(row.row)},
                             {"kept", lives->kept},
                             {"bytes", lives->bytes.all},
                             {"live", lives->bytes.most},
                             {"arena", row.program->arena},
                             {"arena_kept", lives->arenaKept}});
    } else {
      out.print("gradients of {}: {}\n", row.run->levelsText(row.row), textOf(*lives, row));
    }
  }
}

}  // namespace tbem::driver
