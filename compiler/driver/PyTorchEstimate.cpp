#include "compiler/driver/PyTorchEstimate.h"

#include "compiler/driver/MemoryTimeline.h"
#include "compiler/driver/Output.h"
#include "compiler/estimate/CachingAllocator.h"
#include "compiler/estimate/EagerStep.h"
#include "compiler/support/diagnostics/Plan.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tbem::driver {

namespace {

constexpr std::string_view kCuda = "pytorch", kCpu = "pytorch-cpu";
/// What the rules were read from.
constexpr std::string_view kVersion = "2.15";
constexpr std::uint64_t kGranule = 512;  ///< bytes, of the caching allocator's blocks

struct PyTorchRow {
  const RowState* row = nullptr;
  estimate::EagerStep step;
  estimate::EagerPeak peak;                   ///< of live tensors
  std::optional<estimate::Replay> allocator;  ///< on CUDA
};

const estimate::EagerMark& markOf(const PyTorchRow& one) {
  const auto after = std::upper_bound(one.step.marks.begin(), one.step.marks.end(), one.peak.event,
                                      [](std::size_t event, const estimate::EagerMark& mark) { return event < mark.event; });
  return *(after - 1);
}

std::string peakText(const PyTorchRow& one, const SourceManager& sources) {
  const estimate::EagerMark& mark = markOf(one);
  if (one.peak.op == estimate::kNoEagerOp) return fmt::format("the peak is in the {}", mark.phase);
  const estimate::EagerOperator& op = one.step.operators[one.peak.op];
  const graph::Op& place = one.row->elaborated->graph()[op.op];
  return fmt::format("the peak is in the {}, at {}, {}", mark.phase, op.name, sources.describe(place.range.begin));
}

void printRowJson(const PyTorchRow& one, const Options& options, const SourceManager& sources, const Json& workspaces) {
  const RowState& row = *one.row;
  Json kinds = Json::object();
  for (std::size_t k = 0; k < estimate::kEagerKinds; ++k)
    kinds[std::string(estimate::eagerKindName(static_cast<estimate::EagerKind>(k)))] = one.peak.kinds[k];
  Json at = {
      {"phase", markOf(one).phase}, {"step", markOf(one).step}, {"operator", nullptr}, {"file", nullptr}, {"line", nullptr}};
  if (one.peak.op != estimate::kNoEagerOp) {
    const estimate::EagerOperator& op = one.step.operators[one.peak.op];
    const SrcRange range = row.elaborated->graph()[op.op].range;
    at["operator"] = op.name;
    if (const Source* source = sources.find(range.begin)) {
      at["file"] = source->name;
      at["line"] = sources.lineColumn(range.begin).line;
    }
  }
  Json memory = {{"live", one.peak.bytes}, {"kinds", kinds}, {"peak_at", at}, {"allocated", nullptr}, {"reserved", nullptr}};
  if (one.allocator) {
    memory["allocated"] = one.allocator->statistics.allocated.peak;
    memory["reserved"] = one.allocator->statistics.reserved.peak;
  }
  printJson("pytorch", {{"design", row.run->spec.name},
                        {"row", row.row},
                        {"network", row.elaborated->graph().network},
                        {"levels", row.run->levels(row.row)},
                        {"device", options.backend},
                        {"version", kVersion},
                        {"optimizer", one.step.optimizer},
                        {"memory", memory},
                        {"workspaces", workspaces}});
}

void printKinds(const Options& options, const PyTorchRow& one, const SourceManager& sources) {
  report::Table table;
  table.title = fmt::format("live tensors at the peak of {}", one.row->run->levelsText(one.row->row));
  table.columns = {{"kind", report::Align::Left}, {"bytes", report::Align::Decimal}, {"share", report::Align::Decimal}};
  const auto add = [&](std::string name, std::uint64_t bytes, std::uint64_t whole) {
    table.add({std::move(name), report::bytes(bytes), report::percent(static_cast<double>(bytes) / static_cast<double>(whole))});
  };
  const std::uint64_t whole = one.allocator ? one.allocator->statistics.reserved.peak : one.peak.bytes;
  for (std::size_t k = 0; k < estimate::kEagerKinds && whole != 0; ++k) {
    if (one.peak.kinds[k] != 0)
      add(std::string(estimate::eagerKindName(static_cast<estimate::EagerKind>(k))), one.peak.kinds[k], whole);
  }
  if (one.allocator) {
    const std::uint64_t allocated = one.allocator->statistics.allocated.peak;
    add("unsplit rest of blocks", allocated - std::min(allocated, one.peak.bytes), whole);
    add("free in segments", whole - std::min(whole, allocated), whole);
  }
  table.rules.push_back(table.rows.size());
  add(one.allocator ? "reserved" : "live", whole, whole);
  printTable(options, table);
  fmt::print("{}\n", peakText(one, sources));
}

estimate::EagerOptions eagerOptions(const Options& options) {
  estimate::EagerOptions result;
  result.device = options.backend == kCpu ? estimate::EagerDevice::Cpu : estimate::EagerDevice::Cuda;
  // torch.optim's own choice where nothing is asked for: foreach on CUDA, a loop elsewhere.
  result.update = options.update == "fused"                                                 ? estimate::EagerUpdate::Fused
                  : options.update == "foreach"                                             ? estimate::EagerUpdate::Foreach
                  : options.update == "loop" || result.device == estimate::EagerDevice::Cpu ? estimate::EagerUpdate::Loop
                                                                                            : estimate::EagerUpdate::Foreach;
  return result;
}

class Printer {
public:
  Printer(State& state, EagerSteps& steps) : state(state), options(state.options), steps(steps) {}

  void design(const DesignRun& run) {
    report::Table table;
    table.title = fmt::format("estimate of {} in eager PyTorch {} ({}, {})", run.spec.name, kVersion,
                              options.backend == kCpu ? "cpu" : "cuda", run.array.name);
    table.columns.push_back({"row", report::Align::Right});
    for (const graph::FactorSpec& factor : run.spec.factors) table.columns.push_back({factor.name, report::Align::Right});
    table.columns.push_back({"live", report::Align::Decimal});
    if (options.backend == kCuda) {
      table.columns.push_back({"allocated", report::Align::Decimal});
      table.columns.push_back({"reserved", report::Align::Decimal});
    }
    std::optional<PyTorchRow> worst;
    for (const RowState& row : state.rows) {
      if (row.run != &run) continue;
      std::optional<PyTorchRow> one = estimateOf(row);
      if (!one) continue;
      checkLimit(*one);
      const bool isHighest = !worst || memoryOf(*one) > memoryOf(*worst);
      if (options.json) {
        printRowJson(*one, options, state.workspace->session.sources,
                     steps.workspaces() ? Json(steps.workspaces()->describe()) : Json(nullptr));
        if (isHighest) worst = std::move(one);
        continue;
      }
      std::vector<report::Cell> cells = {std::to_string(row.row + 1)};
      for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
        cells.emplace_back(run.spec.factors[f].levels[run.rows[row.row][f]].text);
      cells.emplace_back(report::bytes(one->peak.bytes));
      if (one->allocator) {
        cells.emplace_back(report::bytes(one->allocator->statistics.allocated.peak));
        cells.emplace_back(report::bytes(one->allocator->statistics.reserved.peak));
      }
      table.add(std::move(cells));
      if (isHighest) worst = std::move(one);
    }
    if (!worst) return;
    if (!options.out.empty() &&
        !writeTimeline(options, *worst->row, timelineOf(*worst->row, worst->step, state.workspace->session.sources)))
      failed = true;
    if (options.json) return;
    printTable(options, table);
    printKinds(options, *worst, state.workspace->session.sources);
    if (steps.workspaces()) fmt::print("workspaces of convolutions as on {}\n", steps.workspaces()->describe());
    if (steps.onCuda())
      fmt::print("not counted: {}workspaces of cuBLAS, the CUDA context\n",
                 steps.workspaces() ? "" : "workspaces of cuDNN (--device says on which GPU), ");
  }

  bool overLimit = false;
  bool failed = false;  ///< a plot could not be written, which was said

private:
  static std::uint64_t memoryOf(const PyTorchRow& one) {
    return one.allocator ? one.allocator->statistics.reserved.peak : one.peak.bytes;
  }

  std::optional<PyTorchRow> estimateOf(const RowState& row) {
    auto step = steps.of(*row.elaborated);
    if (!step) {
      state.sink().report(diag::row_without_number, step.error().range, step.error().what);
      return std::nullopt;
    }
    PyTorchRow one{&row, std::move(*step), {}, {}};
    const bool cuda = steps.onCuda();
    one.peak = estimate::eagerPeak(one.step, cuda ? kGranule : 1);
    if (cuda) one.allocator = estimate::replay(estimate::allocatorEvents(one.step), {}, {});
    return one;
  }

  void checkLimit(const PyTorchRow& one) {
    if (options.maxMemory.empty()) return;
    const auto limit = report::parseBytes(options.maxMemory);
    if (!limit || memoryOf(one) <= *limit) return;
    overLimit = true;
    printNote(options,
              fmt::format("{} ({}) takes {}, more than {}: {}", one.row->run->spec.name, one.row->run->levelsText(one.row->row),
                          report::bytes(memoryOf(one)), report::bytes(*limit), peakText(one, state.workspace->session.sources)));
  }

  State& state;
  const Options& options;
  EagerSteps& steps;
};

}  // namespace

bool isPyTorch(std::string_view backend) { return backend == kCuda || backend == kCpu; }

tl::expected<EagerSteps, int> EagerSteps::open(State& state) {
  EagerSteps steps;
  steps.options = eagerOptions(state.options);
  if (steps.onCuda() && !state.options.device.empty()) {
    auto asked = EagerWorkspaces::open(state);
    if (!asked) return tl::unexpected(asked.error());
    steps.asked.emplace(std::move(*asked));
  }
  return steps;
}

tl::expected<estimate::EagerStep, estimate::NoValue> EagerSteps::of(const graph::Row& row) {
  estimate::EagerOptions own = options;
  if (asked) own.workspaces = [this, &row](graph::OpId id) { return asked->of(row.graph(), row.values, id); };
  return estimate::eagerStep(row.graph(), row.values, own);
}

int EagerSteps::finish(const Options& options) {
  if (!asked) return kOk;
  if (!asked->failure.empty()) {
    printFailure(asked->failure);
    return kEnvironment;
  }
  asked->keep(options);
  return kOk;
}

int printPyTorchEstimates(State& state) {
  auto steps = EagerSteps::open(state);
  if (!steps) return steps.error();
  Printer printer(state, *steps);
  for (const auto& run : state.designs.runs) {
    if (run->experiment != nullptr) {
      printer.design(*run);
    } else {
      printNote(state.options, fmt::format("{} has no network: nothing to estimate", run->spec.name));
    }
  }
  for (const auto& training : state.trainings) printer.design(*training->step);
  if (const int status = steps->finish(state.options); status != kOk) return status;
  if (printer.failed) return kEnvironment;
  return printer.overLimit ? kVerdictAgainst : kOk;
}

}  // namespace tbem::driver
