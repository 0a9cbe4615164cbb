#include "compiler/show/rows/Profile.h"

#include "compiler/count/Flops.h"
#include "compiler/show/Out.h"
#include "runtime/core/Executable.h"
#include "runtime/measure/Quantile.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace tbem::driver {

namespace {

constexpr int kWarmUp = 3, kRepeats = 21;
constexpr std::size_t kShown = 30;  ///< steps in the table for people; JSON has all

/// One step of the program, as measured and as planned.
struct Line {
  const estimate::Step* step = nullptr;
  double seconds = 0;  ///< median over the repeats
  double flops = 0;
  std::uint64_t bytes = 0;     ///< of its operands, each once
  std::string implementation;  ///< of a call; "loop" for generated code
  std::string path;            ///< of the instance that it is part of; "" in the network's own body, and for a reorder
};

/// Medians by step; `whole`: of the step as a whole.
tl::expected<std::vector<double>, std::string> timeSteps(const State& state, const RowState& row, double& whole) {
  auto made = runtime::Instance::create(row.compiled->executable, *state.backend.backend);
  if (!made) return tl::unexpected(made.error().message);
  runtime::Instance& run = **made;
  if (const auto ready = run.initialise(state.request.target.seed); !ready) return tl::unexpected(ready.error().message);
  std::vector<double> times(row.program->steps.size(), 0), wholes;
  std::vector<std::vector<double>> samples(times.size());
  run.keepTimes(times);
  for (int i = 0; i < kWarmUp + kRepeats; ++i) {
    if (const auto done = run.run(static_cast<std::uint64_t>(i) + 1); !done) return tl::unexpected(done.error().message);
    if (i < kWarmUp) continue;
    for (std::size_t k = 0; k < times.size(); ++k) samples[k].push_back(times[k]);
    wholes.push_back(std::accumulate(times.begin(), times.end(), 0.0));
  }
  whole = times.empty() ? 0 : measure::median(wholes);
  std::vector<double> seconds;
  for (const std::vector<double>& one : samples) seconds.push_back(measure::median(one));
  return seconds;
}

/// Bytes that the operands of a step take, each buffer once.
std::uint64_t bytesOf(const estimate::Program& program, const estimate::Step& step) {
  std::vector<estimate::BufferId> buffers;
  if (step.kind == estimate::Step::Kind::Call) {
    buffers = program.calls[step.index].operands;
  } else {
    for (const auto& input : program.loops[step.index].inputs) buffers.push_back(input.buffer);
    for (const auto& output : program.loops[step.index].outputs) buffers.push_back(output.buffer);
  }
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  std::uint64_t bytes = 0;
  for (const estimate::BufferId id : buffers) {
    if (id != estimate::kNoBuffer) bytes += program[id].operand.layout.bytes;
  }
  return bytes;
}

tl::expected<std::vector<Line>, std::string> linesOf(const RowState& row, const std::vector<double>& seconds) {
  const estimate::Program& program = *row.program;
  std::vector<Line> lines;
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    const estimate::Step& step = program.steps[k];
    const auto flops = estimate::countFlops(row.elaborated->graph(), row.elaborated->values, step.ops);
    if (!flops) return tl::unexpected(flops.error().what);
    const bool call = step.kind == estimate::Step::Kind::Call;
    const graph::Graph& graph = row.elaborated->graph();
    const bool placed = !step.ops.empty() && !graph.scopes.empty();
    lines.push_back({&step, seconds[k], estimate::toDouble(*flops),
                     bytesOf(program, step) * static_cast<std::uint64_t>(program.runsOf(static_cast<std::uint32_t>(k))),
                     call ? program.calls[step.index].implementation : "loop",
                     placed ? graph.scopes[graph::index(graph[step.ops.front()].scope)].path : ""});
  }
  return lines;
}

std::string rate(double amount, double seconds) { return seconds > 0 ? report::number(amount / seconds / 1e9, 3) : ""; }

/// Of one step, or of all of a kind.
struct Spent {
  double seconds = 0, flops = 0, bytes = 0;
};

/// `last`: the cells behind the figures.
void addLine(report::Table& table, std::string name, std::string implementation, const Spent& spent, double whole,
             std::vector<report::Cell> last) {
  table.add({std::move(name), report::seconds(spent.seconds), report::percent(whole > 0 ? spent.seconds / whole : 0),
             spent.flops > 0 ? rate(spent.flops, spent.seconds) : "", rate(spent.bytes, spent.seconds),
             std::move(implementation)});
  table.rows.back().insert(table.rows.back().end(), last.begin(), last.end());
}

report::Table tableOf(std::string title) {
  report::Table table;
  table.title = std::move(title);
  table.columns = {{"step", report::Align::Left},       {"time", report::Align::Decimal}, {"share", report::Align::Decimal},
                   {"GFLOP/s", report::Align::Decimal}, {"GB/s", report::Align::Decimal}, {"implementation", report::Align::Left},
                   {"in", report::Align::Left},         {"from", report::Align::Left}};
  return table;
}

/// Steps by what they are, then the longest ones.
void printTables(show::Out& out, const State& state, const RowState& row, std::vector<Line> lines, double whole) {
  struct Sum : Spent {
    int steps = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const Line& line : lines) {
    Sum& sum = sums[{line.step->name, line.implementation}];
    sum.seconds += line.seconds;
    sum.flops += line.flops;
    sum.bytes += static_cast<double>(line.bytes);
    ++sum.steps;
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Sum>> kinds(sums.begin(), sums.end());
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  report::Table byKind =
      tableOf(fmt::format("{} on {}, {}: {} in {} steps, by kind", row.elaborated->graph().network, state.backendName,
                          row.run->levelsText(row.row), report::seconds(whole), lines.size()));
  byKind.columns.resize(6);
  byKind.columns.push_back({"steps", report::Align::Right});
  for (const auto& [name, sum] : kinds) addLine(byKind, name.first, name.second, sum, whole, {std::to_string(sum.steps)});
  out.table(byKind);
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
  report::Table longest = tableOf(fmt::format("the longest {}", std::min(kShown, lines.size())));
  lines.resize(std::min(kShown, lines.size()));
  for (const Line& line : lines) {
    addLine(longest, line.step->name, line.implementation, {line.seconds, line.flops, static_cast<double>(line.bytes)}, whole,
            {line.path, state.workspace->session.sources.describe(line.step->range.begin)});
  }
  out.table(longest);
}

void printJsonProfile(show::Out& out, const State& state, const RowState& row, const std::vector<Line>& lines, double whole) {
  Json steps = Json::array();
  for (const Line& line : lines) {
    steps.push_back({{"name", line.step->name},
                     {"path", line.path},
                     {"from", state.workspace->session.sources.describe(line.step->range.begin)},
                     {"seconds", line.seconds},
                     {"flops", line.flops},
                     {"bytes", line.bytes},
                     {"implementation", line.implementation}});
  }
  out.json("profile", {{"network", row.elaborated->graph().network},
                       {"design", row.run->spec.name},
                       {"row", row.row},
                       {"levels", row.run->levels(row.row)},
                       {"backend", state.backendName},
                       {"threads", row.compiled->executable.threads},
                       {"repeats", kRepeats},
                       {"seconds", whole},
                       {"steps", std::move(steps)}});
}

}  // namespace

tl::expected<void, std::string> printProfile(show::Out& out, const State& state, const RowState& row) {
  double whole = 0;
  const auto seconds = timeSteps(state, row, whole);
  if (!seconds) return tl::unexpected(seconds.error());
  auto lines = linesOf(row, *seconds);
  if (!lines) return tl::unexpected(lines.error());
  if (out.display.json) {
    printJsonProfile(out, state, row, *lines, whole);
  } else {
    printTables(out, state, row, std::move(*lines), whole);
  }
  return {};
}

}  // namespace tbem::driver
