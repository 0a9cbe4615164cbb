#include "compiler/estimate/Estimate.h"

#include "compiler/graph/ir/Opaque.h"
#include "compiler/support/Json.h"

#include <algorithm>

namespace tbem::estimate {

PeakAt peakAt(const graph::Graph& graph, const graph::Op& op) {
  PeakAt peak{op.declaration, op.range, op.use, {}};
  // A gradient stands where its operator stands.
  const graph::Op& place = op.phase == graph::Phase::Backward && op.forward != graph::kNoOp ? graph[op.forward] : op;
  peak.use = place.use;
  if (!graph.scopes.empty()) peak.scope = graph.scopes[graph::index(place.scope)].path;
  return peak;
}

tl::expected<Estimate, NoValue> estimateRow(const graph::Graph& graph, const sema::Values& values, const Program* program) {
  return estimateRow(graph, values, program, staticOrder(graph));
}

tl::expected<Estimate, NoValue> estimateRow(const graph::Graph& graph, const sema::Values& values, const Program* program,
                                            const StaticOrder& order, const Convention& convention) {
  Estimate estimate;
  estimate.network = graph.network;
  auto flops = countFlops(graph, values, convention);
  if (!flops) return tl::unexpected(flops.error());
  estimate.flops = std::move(*flops);
  estimate.unknownFlops = graph::unknownFlops(graph);
  const auto memory = staticMemory(graph, values, order);
  if (!memory) return tl::unexpected(memory.error());
  estimate.memory = *memory;
  if (memory->peak != graph::kNoOp) estimate.peak = peakAt(graph, graph[memory->peak]);
  if (program == nullptr) return estimate;
  DeviceMemory device;
  device.live = program->live;
  device.arena = program->arena;
  std::copy(std::begin(program->kinds), std::end(program->kinds), device.kinds);
  device.gaps = program->gaps;
  device.arenaAsWritten = program->arenaAsWritten;
  device.backend = program->backend;
  device.info = program->device;
  device.unknownWorkspaces = program->unknownWorkspaces();
  for (const NativeCall& call : program->calls) {
    if (!call.choice.empty()) ++(call.assumed ? device.assumed : device.timed);
  }
  estimate.device = std::move(device);
  if (!program->branches.empty()) estimate.paths = memoryOfPaths(*program);
  if (!program->steps.empty()) {
    const Step& step = program->steps[program->peakStep];
    estimate.peak = step.ops.empty() ? PeakAt{} : peakAt(graph, graph[step.ops.front()]);
    estimate.peak.name = step.name;
    estimate.peak.range = step.range;
  }
  return estimate;
}

namespace {
void count(JsonWriter& json, std::string_view name, Count value) { json.key(name).raw(toString(value)); }

void writeFlops(JsonWriter& json, const Flops& flops, std::uint32_t unknown) {
  json.key("flops").begin();
  count(json, "forward", flops.most.forward);
  count(json, "backward", flops.most.backward);
  count(json, "optimizer", flops.most.optimizer);
  count(json, "recomputed", flops.most.recomputed);
  count(json, "step", flops.most.step());
  if (unknown != 0) json.field("unknown_operators", unknown);
  json.key("by_operator").begin();
  for (const auto& [name, counts] : flops.byOperator) {
    json.key(name).begin();
    count(json, "forward", counts.forward);
    count(json, "backward", counts.backward);
    count(json, "mac_flops_forward", counts.macForward);
    count(json, "mac_flops_backward", counts.macBackward);
    count(json, "optimizer", counts.optimizer);
    count(json, "recomputed", counts.recomputed);
    json.end();
  }
  json.end().end();
}

void writePlace(JsonWriter& json, SrcRange range, const SourceManager& sources) {
  const Source* source = sources.find(range.begin);
  if (source != nullptr) {
    json.field("file", source->name).field("line", sources.lineColumn(range.begin).line);
  } else {
    json.key("file").null().key("line").null();
  }
}

void writeMemory(JsonWriter& json, const Estimate& estimate, const SourceManager& sources) {
  json.key("memory").begin().field("static", estimate.memory.bytes);
  if (estimate.device) {
    json.field("live", estimate.device->live).field("arena", estimate.device->arena);
    json.field("arena_as_written", estimate.device->arenaAsWritten);
    json.field("unknown_workspaces", estimate.device->unknownWorkspaces);
  } else {
    json.key("live").null().key("arena").null().key("arena_as_written").null().key("unknown_workspaces").null();
  }
  json.key("kinds").raw(estimate.device ? kindsJson(estimate.device->kinds, estimate.device->gaps)
                                        : kindsJson(estimate.memory.kinds, 0));
  json.key("peak_at");
  if (estimate.peak.name.empty()) {
    json.null();
  } else {
    json.begin().field("operator", estimate.peak.name);
    writePlace(json, estimate.peak.range, sources);
    json.field("path", estimate.peak.scope);
    // The call in the library, where that is not the user's own line.
    const bool inside = estimate.peak.use.valid() && estimate.peak.use.begin != estimate.peak.range.begin;
    const Source* library = inside ? sources.find(estimate.peak.use.begin) : nullptr;
    if (library != nullptr) {
      json.field("library_file", library->name).field("library_line", sources.lineColumn(estimate.peak.use.begin).line);
    } else {
      json.key("library_file").null().key("library_line").null();
    }
    json.end();
  }
  json.end();
}

void writeRecomputation(JsonWriter& json, const Recomputation& recomputation) {
  json.key("checkpoint").begin().key("limit");
  if (recomputation.limit) {
    json.value(*recomputation.limit);
  } else {
    json.null();
  }
  json.field("arena_kept", recomputation.arenaKept).field("arena", recomputation.arena);
  count(json, "flops", recomputation.flops);
  json.field("share", recomputation.share()).key("blocks").beginList();
  for (const RecomputedBlock& block : recomputation.blocks) {
    json.begin().field("path", block.path).key("operators").beginList();
    for (const std::string& name : block.operators) json.value(name);
    json.endList().field("count", std::uint64_t{block.count});
    count(json, "flops", block.flops);
    json.end();
  }
  json.endList().end();
}

std::string_view boundName(Bound bound) { return bound == Bound::Compute ? "compute" : "memory"; }

void writeRoofline(JsonWriter& json, const Roofline& roofline, const SourceManager& sources) {
  json.key("roofline").begin().field("device", roofline.device).key("products_in");
  if (roofline.type.empty()) {
    json.null();
  } else {
    json.value(roofline.type);
  }
  count(json, "flops", roofline.flops);
  json.field("bytes_moved", roofline.bytes).field("intensity", roofline.intensity());
  json.field("least_seconds", roofline.seconds).field("compute_bound_seconds", roofline.computeSeconds);
  count(json, "whole_number_operations", roofline.wholeNumbers);
  json.key("left_out").beginList();
  for (const LeftOut& left : roofline.leftOut) {
    json.begin().field("type", left.type);
    count(json, "flops", left.flops);
    json.key("operators").beginList();
    for (const std::string& name : left.operators) json.value(name);
    json.endList().end();
  }
  json.endList().key("operators").beginList();
  for (const StepCost& step : roofline.steps) {
    json.begin().field("operator", step.name);
    writePlace(json, step.range, sources);
    count(json, "flops", step.flops);
    json.field("bytes_moved", step.bytes).field("intensity", step.intensity()).field("least_seconds", step.seconds);
    json.field("bound", std::string(boundName(step.bound))).end();
  }
  json.endList().end();
}
}  // namespace

std::string toJson(const Estimate& estimate, const RowLabel& label, const SourceManager& sources) {
  JsonWriter json;
  json.begin().field("kind", "estimate").field("schema", 1);
  json.field("design", label.design).field("row", label.row).field("network", estimate.network).key("levels").raw(label.levels);
  json.field("parameters", estimate.flops.parameters).field("buffers", estimate.flops.buffers);
  writeFlops(json, estimate.flops, estimate.unknownFlops);
  writeMemory(json, estimate, sources);
  json.key("device");
  if (estimate.device) {
    const tbem_device_info& info = estimate.device->info;
    json.begin()
        .field("backend", estimate.device->backend)
        .field("name", std::string(info.name))
        .field("isa", std::string(info.isa));
    json.field("library", std::string(info.library)).field("threads", info.threads);
    json.key("algorithms").begin().field("timed", estimate.device->timed).field("assumed", estimate.device->assumed).end().end();
  } else {
    json.null();
  }
  if (estimate.flops.gated) {
    json.key("paths").begin();
    count(json, "flops_min", estimate.flops.least.step());
    json.key("flops_expected");
    if (estimate.expected) {
      json.value(*estimate.expected);
    } else {
      json.null();
    }
    count(json, "flops_max", estimate.flops.most.step());
    json.field("memory_min", estimate.memory.least).field("memory_max", estimate.memory.bytes);
    if (estimate.paths) json.field("arena_min", estimate.paths->least).field("arena_max", estimate.paths->most);
    if (estimate.expectedMemory) json.field("arena_expected", *estimate.expectedMemory);
    if (estimate.seconds)
      json.field("least_seconds_min", estimate.seconds->least).field("least_seconds_max", estimate.seconds->most);
    if (estimate.expectedSeconds) json.field("least_seconds_expected", *estimate.expectedSeconds);
    json.end();
  }
  if (estimate.recomputation) writeRecomputation(json, *estimate.recomputation);
  if (estimate.roofline) writeRoofline(json, *estimate.roofline, sources);
  if (!label.budgets.empty()) json.key("budgets").raw(label.budgets);
  return json.end().str();
}

}  // namespace tbem::estimate
