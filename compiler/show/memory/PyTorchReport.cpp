#include "compiler/show/memory/PyTorchReport.h"
#include "compiler/diagnostics/ModelLine.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/show/Out.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace tbem::driver {

namespace {

/// A part of the waterfall, or what the parts so far add up to.
struct Part {
  std::string name;
  std::optional<std::uint64_t> bytes;  ///< none: not measured
  bool isSum = false;
};

constexpr const char* kBesideNames[] = {"CUDA context", "handles of libraries", "loaded kernels"};

std::vector<Part> partsOf(const PyTorchMemory& memory) {
  std::vector<Part> parts;
  const auto& kinds = memory.cuda ? memory.cuda->kinds : memory.live.kinds;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k] != 0) parts.push_back({std::string(estimate::eagerKindName(static_cast<estimate::EagerKind>(k))), kinds[k]});
  }
  if (!memory.cuda) {
    parts.push_back({"live", memory.live.bytes, true});
    return parts;
  }
  parts.push_back({"rounding to blocks", memory.cuda->rounding});
  parts.push_back({"unsplit rest of blocks", memory.cuda->unsplit});
  parts.push_back({"allocated", memory.cuda->allocated, true});
  parts.push_back({"free in segments", memory.cuda->free});
  parts.push_back({"reserved", memory.cuda->reserved, true});
  for (std::size_t i = 0; i < memory.beside.size(); ++i) {
    if (memory.beside[i].name != nullptr) parts.push_back({kBesideNames[i], memory.beside[i].bytes});
  }
  return parts;
}

const estimate::EagerMark& markOf(const PyTorchMemory& memory, std::size_t event) {
  const auto after = std::upper_bound(memory.step.marks.begin(), memory.step.marks.end(), event,
                                      [](std::size_t at, const estimate::EagerMark& mark) { return at < mark.event; });
  return *(after - 1);
}

/// Where an event of the step happens.
Json placeJson(const PyTorchMemory& memory, std::size_t event, const SourceManager& sources) {
  const estimate::EagerMark& mark = markOf(memory, event);
  Json at = {{"phase", mark.phase}, {"step", mark.step}, {"operator", nullptr},     {"file", nullptr},
             {"line", nullptr},     {"path", nullptr},   {"library_file", nullptr}, {"library_line", nullptr}};
  const std::uint32_t operatorAt = memory.step.tensors[memory.step.events[event].tensor].op;
  if (operatorAt == estimate::kNoEagerOp) return at;
  const estimate::EagerOperator& op = (*memory.step.operators)[operatorAt];
  const estimate::PeakAt place = estimate::peakAt(memory.row->elaborated->graph(), memory.row->elaborated->graph()[op.op]);
  const SrcRange range = place.range;
  at["operator"] = op.name;
  at["path"] = place.scope;
  if (const Source* source = sources.find(range.begin)) {
    at["file"] = source->name;
    at["line"] = sources.lineColumn(range.begin).line;
    if (const ModelLine origin = modelLineOf(sources, range.begin); origin.known()) at["origin"] = origin.text();
  }
  if (place.use.valid() && place.use.begin != range.begin) {  // the call in the library, where that is not the user's own line
    if (const Source* library = sources.find(place.use.begin)) {
      at["library_file"] = library->name;
      at["library_line"] = sources.lineColumn(place.use.begin).line;
    }
  }
  return at;
}

Json bytesJson(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json waterfallJson(const PyTorchMemory& memory, const SourceManager& sources) {
  Json parts = Json::array();
  for (const Part& part : partsOf(memory))
    parts.push_back({{"part", part.name}, {"bytes", bytesJson(part.bytes)}, {"sum", part.isSum}});
  return {{"peak_at", placeJson(memory, memory.cuda ? memory.cuda->event : memory.live.event, sources)}, {"parts", parts}};
}

Json boundsJson(const MemoryBounds& bounds) {
  return {{"lower",
           {{"bytes", bounds.lower}, {"proved", true}, {"engines", bounds.lowerEngines}, {"allocator", bounds.lowerAllocator}}},
          {"upper",
           bounds.upper ? Json{{"bytes", *bounds.upper}, {"proved", false}, {"engines", bounds.upperEngines}} : Json(nullptr)}};
}

std::string notMeasured(const PyTorchMemory& memory) {
  std::vector<std::string> names;
  for (const estimate::BesideTensors& part : memory.beside) {
    if (part.name != nullptr && !part.bytes) names.emplace_back(part.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void printBounds(show::Out& out, const PyTorchMemory& memory, const EagerSteps& steps) {
  const MemoryBounds& bounds = *memory.bounds;
  out.say("at least {}, proved of this step: {} less with the smallest engines of cuDNN, {} less if the allocator lost nothing\n",
          report::bytes(bounds.lower), report::bytes(bounds.lowerEngines), report::bytes(bounds.lowerAllocator));
  if (!steps.workspaces()) {
    out.say("at most: not known without --device\n");
    return;
  }
  if (!bounds.upper) {
    out.say("at most: not known, cuDNN did not list the engines of every convolution\n");
    return;
  }
  const std::string unmeasured = notMeasured(memory);
  out.say("at most {}{}, not proved: {} more with the largest engines of cuDNN, as replayed\n", report::bytes(*bounds.upper),
          unmeasured.empty() ? "" : " and " + unmeasured, report::bytes(bounds.upperEngines));
}

void printNotes(show::Out& out, const PyTorchMemory& memory, const EagerSteps& steps) {
  if (!steps.onCuda()) return;
  if (!steps.workspaces()) {
    out.say("not counted: workspaces of cuDNN and cuBLAS, the CUDA context (--device says on which GPU)\n");
    return;
  }
  const estimate::Device& device = steps.workspaces()->onDevice();
  out.say("workspaces of convolutions as on {}\n", steps.workspaces()->describe());
  if (const std::string unmeasured = notMeasured(memory); !unmeasured.empty())
    out.say("not measured on {}: {}\n", device.name, unmeasured);
  if (memory.measuredBeside() != 0)
    out.say("measured: {}\n", device.measured.empty() ? "the record does not say when" : device.measured);
}

}  // namespace

std::string peakText(const PyTorchMemory& memory, const SourceManager& sources) {
  const std::size_t event = memory.cuda ? memory.cuda->event : memory.live.event;
  const std::uint32_t operatorAt = memory.step.tensors[memory.step.events[event].tensor].op;
  const std::string phase = fmt::format("the peak is in the {}", markOf(memory, event).phase);
  if (operatorAt == estimate::kNoEagerOp) return phase;
  const estimate::EagerOperator& op = (*memory.step.operators)[operatorAt];
  const graph::Graph& graph = memory.row->elaborated->graph();
  const estimate::PeakAt place = estimate::peakAt(graph, graph[op.op]);
  const bool inside = place.use.valid() && place.use.begin != place.range.begin;
  const ModelLine origin = modelLineOf(sources, place.range.begin);
  return fmt::format("{}, at {}, {}{}{}{}", phase, op.name, sources.describe(place.range.begin),
                     origin.known() ? fmt::format(" (written from {})", origin.text()) : "",
                     place.scope.empty() ? "" : fmt::format(", in {}", place.scope),
                     inside ? fmt::format(" ({})", sources.describe(place.use.begin)) : "");
}

std::string deviceText(const PyTorchMemory& memory) {
  return fmt::format("{}{}", memory.complete ? "" : "at least ", report::bytes(memory.point()));
}

void printWaterfall(show::Out& out, const PyTorchMemory& memory, const EagerSteps& steps, const SourceManager& sources) {
  report::Table table;
  table.title = fmt::format("what {} takes{}", memory.row->run->levelsText(memory.row->row),
                            steps.workspaces() ? " of " + steps.workspaces()->onDevice().name : "");
  table.columns = {{"part", report::Align::Left}, {"bytes", report::Align::Decimal}, {"share", report::Align::Decimal}};
  const auto whole = static_cast<double>(std::max<std::uint64_t>(1, memory.point()));
  for (const Part& part : partsOf(memory)) {
    if (part.isSum) table.rules.push_back(table.rows.size());
    table.add({part.name, part.bytes ? report::bytes(*part.bytes) : "not measured",
               part.bytes ? report::percent(static_cast<double>(*part.bytes) / whole) : ""});
  }
  if (steps.workspaces()) {
    table.rules.push_back(table.rows.size());
    table.add({memory.complete ? "device" : "device, at least", report::bytes(memory.point()), report::percent(1)});
  }
  out.table(table);
  out.say("{}\n", peakText(memory, sources));
  if (memory.bounds) printBounds(out, memory, steps);
  printNotes(out, memory, steps);
}

void printPyTorchJson(show::Out& out, const State& state, const EagerRequest& request, const PyTorchMemory& memory,
                      const EagerSteps& steps, PyTorchLimits limits) {
  const SourceManager& sources = state.workspace->session.sources;
  Json kinds = Json::object();
  for (std::size_t k = 0; k < estimate::kEagerKinds; ++k)
    kinds[std::string(estimate::eagerKindName(static_cast<estimate::EagerKind>(k)))] = memory.live.kinds[k];
  Json fields = {{"live", memory.live.bytes},
                 {"kinds", kinds},
                 {"peak_at", placeJson(memory, memory.live.event, sources)},
                 {"allocated", nullptr},
                 {"reserved", nullptr},
                 {"device", nullptr},
                 {"device_at_least", nullptr},
                 {"waterfall", waterfallJson(memory, sources)},
                 {"bounds", nullptr}};
  if (memory.cuda) {
    fields["allocated"] = memory.cuda->allocated;
    fields["reserved"] = memory.cuda->reserved;
    fields["device_at_least"] = memory.point();
    if (memory.complete) fields["device"] = memory.point();
    fields["bounds"] = boundsJson(*memory.bounds);
  }
  Json device = nullptr;
  if (steps.workspaces()) {
    device = {{"name", steps.workspaces()->onDevice().name}, {"memory", steps.workspaces()->onDevice().memory}};
    for (const estimate::BesideTensors& part : memory.beside) device[part.name] = bytesJson(part.bytes);
  }
  const RowState& row = *memory.row;
  Json object = {{"design", row.run->spec.name},
                 {"row", row.row},
                 {"network", row.elaborated->graph().network},
                 {"levels", row.run->levels(row.row)},
                 {"device", state.request.target.backend},
                 {"gpu", device},
                 {"version", torchVersion(request)},
                 {"alloc_conf", request.allocConf.empty() ? "" : request.allocConf.front()},
                 {"optimizer", memory.step.optimizer},
                 {"memory", fields},
                 {"limit", std::move(limits.max)},
                 {"workspaces", steps.workspaces() ? Json(steps.workspaces()->describe()) : Json(nullptr)}};
  if (!limits.budgets.is_null()) object["budgets"] = std::move(limits.budgets);
  out.json("pytorch", std::move(object));
}

}  // namespace tbem::driver
