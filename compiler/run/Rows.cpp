#include "compiler/run/Rows.h"

#include "compiler/backends/Algorithms.h"
#include "compiler/lower/program/LoopTypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

/// Steps of plans that are kept, of all rows: about half a GiB.
constexpr std::size_t kMostKept = 100'000;

/// Whether the row was lowered as it is asked for. With `timing`, an algorithm that is assumed is one to time first.
bool serves(const RowState& row, const RowKey& key, int threads, bool timing) {
  if (!row.program || row.backend != key.backend || text(row.tuning) != text(key.tuning)) return false;
  if (row.program->threads != threads) return false;
  return !timing || std::ranges::none_of(row.program->calls, &estimate::NativeCall::assumed);
}

}  // namespace

bool hasLoopTypes(const RowState& row) {
  return std::ranges::all_of(row.elaborated->graph().tensors,
                             [](const graph::Tensor& tensor) { return estimate::hasLoops(tensor.dtype); });
}

std::vector<estimate::Function> functionsOf(const std::vector<NamedRow>& rows) {
  std::vector<estimate::Function> functions;
  functions.reserve(rows.size());
  for (const NamedRow& each : rows) functions.push_back({each.name, &each.row->elaborated->graph(), *each.row->program});
  return functions;
}

tl::expected<std::list<jit::Compiled>, Failed> compileTogether(const std::vector<NamedRow>& rows,
                                                               const std::string& architecture) {
  const auto linked = estimate::link(functionsOf(rows));
  if (!linked) return failed(kRunFailed, linked.error());
  std::list<jit::Compiled> code;
  jit::JitOptions options;
  options.architecture = architecture;
  for (const NamedRow& each : rows) {
    auto compiled = compileRow(*each.row->elaborated, linked->programs[code.size()], options);
    if (!compiled) return failed(kEnvironment, compiled.error());
    code.push_back(std::move(*compiled));
  }
  return code;
}

RowTable::RowTable(const std::vector<RowState>& rows, const Target& target, Events& events) : target(target), events(events) {
  for (const RowState& row : rows) known.emplace(Place(row.run, row.row), &row);
}

std::optional<graph::Row> RowTable::elaborated(const DesignRun* run, std::size_t row) const {
  const auto found = known.find({run, row});
  if (found == known.end()) return std::nullopt;
  graph::Row plain = *found->second->elaborated;
  plain.recomputed.reset();
  return plain;
}

RowTable::OpenedOnce& RowTable::open(const std::string& name) {
  const auto [entry, isNew] = backends.try_emplace(name);
  if (isNew) entry->second.opened = openBackend(name);
  return entry->second;
}

tl::expected<void, estimate::LowerError> lowerInto(RowState& row, Opened& device, const estimate::LowerOptions& options,
                                                   Timing* timing) {
  const auto lower = [&] { return lowerRow(*row.elaborated, row.run->spec, *device.backend, options, &row.recomputation); };
  auto program = lower();
  if (program && timing != nullptr) {
    const auto timed = tune(*program, device, timing->events);
    if (!timed) timing->failed = timed.error();
    if (timed && *timed) program = lower();
  }
  if (!program) return tl::unexpected(program.error());
  row.program = std::move(*program);
  return {};
}

tl::expected<RowState, estimate::LowerError> RowTable::make(const RowKey& key, OpenedOnce& device, bool timing) const {
  RowState row;
  row.run = key.run;
  row.row = key.row;
  row.backend = key.backend;
  row.tuning = key.tuning;
  row.elaborated = elaborated(key.run, key.row);
  const estimate::LowerOptions options = lowerOptions(events, target, device.opened, &device.queries, key.tuning);
  Timing timed{events, ""};
  const auto lowered = lowerInto(row, device.opened, options, timing ? &timed : nullptr);
  if (!timed.failed.empty()) events.note(fmt::format("algorithms are not timed, the default ones run: {}", timed.failed));
  if (!lowered) return tl::unexpected(lowered.error());
  return row;
}

tl::expected<const RowState*, estimate::LowerError> RowTable::lowered(const RowKey& key, bool timing) {
  OpenedOnce& device = open(key.backend);
  noteRefusedChoices(events, key.tuning, device.opened);
  const Place place(key.run, key.row);
  const std::tuple where(place, key.backend, text(key.tuning));
  if (const auto found = kept.find(where); found != kept.end()) return &found->second;
  if (const auto first = known.find(place); first != known.end()) {
    if (serves(*first->second, key, threadsOf(target, device.opened.device), timing)) return first->second;
  }
  auto row = make(key, device, timing);
  if (!row) return tl::unexpected(row.error());
  if (keptSteps > kMostKept) {
    passing = std::move(*row);
    return &*passing;
  }
  keptSteps += row->program->steps.size();
  return &kept.emplace(where, std::move(*row)).first->second;
}

tl::expected<RowState, estimate::LowerError> RowTable::loweredBeside(const RowState& first, DesignRun& run,
                                                                     graph::Row elaborated) {
  OpenedOnce& device = open(first.backend);
  RowState row;
  row.run = &run;
  row.backend = first.backend;
  row.tuning = first.tuning;
  row.elaborated = std::move(elaborated);
  estimate::LowerOptions options = lowerOptions(events, target, device.opened, &device.queries, first.tuning);
  options.keepOutputs = run.keepsOutputs;
  const estimate::Places places = estimate::placesOf(first.elaborated->graph(), *first.program);
  options.places = &places;
  if (const auto lowered = lowerInto(row, device.opened, options, nullptr); !lowered) return tl::unexpected(lowered.error());
  return row;
}

}  // namespace tbem::driver
