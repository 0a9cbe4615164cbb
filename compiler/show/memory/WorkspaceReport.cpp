#include "compiler/show/memory/WorkspaceReport.h"

#include "compiler/devices/AskedDevice.h"
#include "compiler/devices/WorkspaceQuery.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/RooflineReport.h"
#include "runtime/cudnn/Recorded.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tbem::driver {

namespace {

constexpr std::array<const char*, 3> kPasses{"forward", "data gradient", "weight gradient"};

std::string shapeText(const cudnn::Convolution& p) {
  const auto weight = p.weight();
  std::string text = fmt::format("{}x{}x{}x{} * {}x{}x{}x{}", p.n, p.c, p.h, p.w, weight[0], weight[1], weight[2], weight[3]);
  if (p.stride[0] != 1 || p.stride[1] != 1)
    text += p.stride[0] == p.stride[1] ? fmt::format(" /{}", p.stride[0]) : fmt::format(" /{},{}", p.stride[0], p.stride[1]);
  if (p.dilation[0] != 1 || p.dilation[1] != 1) text += fmt::format(" dilation {},{}", p.dilation[0], p.dilation[1]);
  if (p.groups != 1) text += fmt::format(" groups {}", p.groups);
  return text;
}

const char* originName(Origin origin) {
  constexpr std::array<const char*, 3> kNames{"cudnn", "recorded", "model"};
  return kNames[static_cast<std::size_t>(origin)];
}

/// The block instances in which a convolution stands, each once, in the order of the schedule; "" is the network itself.
std::vector<std::string> pathsOf(const graph::Graph& graph, const estimate::Program& program, const AskedConvolution& one) {
  std::vector<std::string> paths;
  for (const ConvolutionCall& call : one.calls) {
    const estimate::Step& step = program.steps[call.step];
    std::string path = step.ops.empty() ? std::string() : estimate::peakAt(graph, graph[step.ops.front()]).scope;
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
  }
  return paths;
}

std::string pathsText(const std::vector<std::string>& paths) {
  const std::string more = paths.size() < 2 ? "" : fmt::format(" and {} more", paths.size() - 1);
  return paths.empty() ? std::string() : paths.front() + more;
}

std::string engineText(const AskedConvolution& one, const std::optional<std::size_t>& at) {
  if (!at) return "none";
  const cudnn::Engine& engine = one.engines[*at];
  const std::string index = engine.index < 0 ? "" : fmt::format("{}: ", engine.index);
  return index + report::bytes(engine.workspace);
}

/// The next that may be taken with less workspace than the first: what a smaller limit would bring.
std::optional<std::size_t> nextBest(const AskedConvolution& one, cudnn::Policy policy) {
  if (!one.first || one.engines[*one.first].workspace == 0) return std::nullopt;
  policy.limit = one.engines[*one.first].workspace - 1;
  return cudnn::first(one.problem, one.engines, policy);
}

Json engineJson(const cudnn::Engine& engine) {
  Json knobs = Json::array();
  for (std::size_t k = 0; k + 1 < engine.knobs.size(); k += 2) knobs.push_back({engine.knobs[k], engine.knobs[k + 1]});
  return {{"engine", engine.index < 0 ? Json(nullptr) : Json(engine.index)},
          {"workspace", engine.workspace},
          {"knobs", knobs},
          {"notes", cudnn::notesOf(engine)}};
}

Json indexJson(const std::optional<std::size_t>& at) { return at ? Json(*at) : Json(nullptr); }
Json bytesJson(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json choiceJson(const WorkspaceChoice& choice) {
  return {{"workspace", choice.largest}, {"live", choice.peak.live}, {"arena", choice.peak.arena}};
}

std::string measuredText(const estimate::Device& device) {
  std::string known, unknown;
  for (const auto& [name, bytes] : estimate::besideTensors(device)) {
    std::string& list = bytes ? known : unknown;
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", name, bytes ? " " + report::bytes(*bytes) : "");
  }
  std::string text;
  if (!known.empty())
    text += fmt::format("beside the arena: {} ({})", known,
                        device.measured.empty() ? "the record does not say when this was measured" : device.measured);
  if (!unknown.empty()) text += fmt::format("{}not measured on {}: {}", text.empty() ? "" : "; ", device.name, unknown);
  return text;
}

class Explainer {
public:
  Explainer(show::Out& out, State& state, const WorkspaceView& view, estimate::Device device, EngineSource source)
      : out(out), state(state), view(view), device(std::move(device)), source(std::move(source)) {
    policy.tf32 = view.engines.tf32 != "off";
    policy.nondeterministic = view.engines.nondeterministic;
    order = view.engines.layout == "nhwc" ? cudnn::Order::Nhwc : cudnn::Order::Nchw;
  }

  int row(const RowState& row) {
    const auto program = lowerRowMajor(out, row, state.request.target, queries);
    if (!program) {
      out.failure(program.error());
      return kEnvironment;
    }
    const double start = measure::monotonicSeconds();
    const auto use = queryWorkspaces(*program, source, order, policy);
    if (out.display.time) {
      out.error(fmt::format("engines  {}, {} lists asked anew so far\n", report::seconds(measure::monotonicSeconds() - start),
                            source.askedAnew()));
    }
    if (!use) {
      out.failure(use.error());
      return kEnvironment;
    }
    if (out.display.json) {
      json(row, *program, *use);
    } else {
      text(row, *program, *use);
    }
    return kOk;
  }

  cudnn::Policy policy;
  EngineSource& answers() { return source; }
  std::string settings() const {
    return fmt::format("{}, f32 {} TF32{}", view.engines.layout, policy.tf32 ? "with" : "without",
                       policy.nondeterministic ? "" : ", deterministic engines only");
  }

private:
  void text(const RowState& row, const estimate::Program& program, const WorkspaceUse& use) {
    const SourceManager& sources = state.workspace->session.sources;
    report::Table table;
    table.title =
        fmt::format("workspaces of {} ({}) on {}, {}", row.run->spec.name, row.run->levelsText(row.row), device.name, settings());
    table.columns = {{"convolution", report::Align::Left}, {"pass", report::Align::Left},
                     {"at", report::Align::Left},          {"in", report::Align::Left},
                     {"times", report::Align::Right},      {"engines", report::Align::Right},
                     {"first", report::Align::Right},      {"next smaller", report::Align::Right},
                     {"smallest", report::Align::Right},   {"notes", report::Align::Left}};
    for (const AskedConvolution& one : use.convolutions) {
      const estimate::Step& step = program.steps[one.calls.front().step];
      const auto next = nextBest(one, policy);
      std::string notes = one.first ? cudnn::notesOf(one.engines[*one.first]) : "";
      if (one.fallback) notes += notes.empty() ? "fallback" : ", fallback";
      if (one.origin != Origin::Cudnn) notes += fmt::format("{}{}", notes.empty() ? "" : ", ", originName(one.origin));
      table.add({shapeText(one.problem), kPasses[static_cast<std::size_t>(one.problem.pass)], sources.describe(step.range.begin),
                 pathsText(pathsOf(row.elaborated->graph(), program, one)), std::to_string(one.calls.size()),
                 std::to_string(one.engines.size()), engineText(one, one.first), next ? engineText(one, next) : "",
                 engineText(one, one.smallest), notes});
    }
    out.table(table);
    trade(use);
    out.print("{}\n", source.describe());
    out.print("{}\n", measuredText(device));
    if (use.notAsked != 0) out.print("{} convolutions are of element types that were not asked for\n", use.notAsked);
  }

  void trade(const WorkspaceUse& use) const {
    report::Table table;
    table.title = "the step, if every convolution took";
    table.columns = {{"engine", report::Align::Left},
                     {"largest workspace", report::Align::Decimal},
                     {"live", report::Align::Decimal},
                     {"arena", report::Align::Decimal}};
    const auto add = [&](std::string name, const WorkspaceChoice& choice) {
      table.add(
          {std::move(name), report::bytes(choice.largest), report::bytes(choice.peak.live), report::bytes(choice.peak.arena)});
    };
    add("its first", use.first);
    if (use.limited) {
      std::string name = fmt::format("its first of {} or less", report::bytes(policy.limit));
      if (use.limited->over != 0) name += fmt::format(" ({} have none: their smallest)", use.limited->over);
      add(std::move(name), *use.limited);
    }
    add("its smallest", use.smallest);
    add("none at all", use.none);
    out.table(table);
  }

  void json(const RowState& row, const estimate::Program& program, const WorkspaceUse& use) {
    const SourceManager& sources = state.workspace->session.sources;
    Json list = Json::array();
    for (const AskedConvolution& one : use.convolutions) {
      const estimate::Step& step = program.steps[one.calls.front().step];
      const Source* file = sources.find(step.range.begin);
      Json engines = Json::array();
      for (const cudnn::Engine& engine : one.engines) engines.push_back(engineJson(engine));
      list.push_back({{"problem", cudnn::describe(one.problem)},
                      {"operator", step.name},
                      {"file", file != nullptr ? Json(file->name) : Json(nullptr)},
                      {"line", file != nullptr ? Json(sources.lineColumn(step.range.begin).line) : Json(nullptr)},
                      {"paths", pathsOf(row.elaborated->graph(), program, one)},
                      {"times", one.calls.size()},
                      {"first", indexJson(one.first)},
                      {"limited", indexJson(one.limited)},
                      {"next_smaller", indexJson(nextBest(one, policy))},
                      {"smallest", indexJson(one.smallest)},
                      {"fallback", one.fallback},
                      {"source", originName(one.origin)},
                      {"engines", std::move(engines)}});
    }
    out.json("workspace", {{"design", row.run->spec.name},
                           {"row", row.row},
                           {"network", row.elaborated->graph().network},
                           {"levels", row.run->levels(row.row)},
                           {"device",
                            {{"name", device.name},
                             {"context", bytesJson(device.context)},
                             {"handles", bytesJson(device.handles)},
                             {"kernels", bytesJson(device.kernels)}}},
                           {"answers", answersJson()},
                           {"layout", view.engines.layout},
                           {"tf32", policy.tf32},
                           {"nondeterministic", policy.nondeterministic},
                           {"workspace_limit", use.limited ? Json(policy.limit) : Json(nullptr)},
                           {"convolutions", std::move(list)},
                           {"not_asked", use.notAsked},
                           {"step",
                            {{"first", choiceJson(use.first)},
                             {"limited", use.limited ? choiceJson(*use.limited) : Json(nullptr)},
                             {"smallest", choiceJson(use.smallest)},
                             {"none", choiceJson(use.none)}}}});
  }

  Json answersJson() const {
    constexpr std::array<const char*, 3> kLibcuda{"driver", "stub", "none"};
    if (!source.hasAnswers())
      return {{"source", "none"},
              {"version", nullptr},
              {"path", nullptr},
              {"libcuda", nullptr},
              {"recorded", cudnn::recordedTable().made}};
    return {{"source", "cudnn"},
            {"version", source.version()},
            {"path", source.path()},
            {"libcuda", source.libcuda() ? Json(kLibcuda[static_cast<std::size_t>(*source.libcuda())]) : Json(nullptr)}};
  }

  show::Out& out;
  State& state;
  const WorkspaceView& view;
  estimate::Device device;
  EngineSource source;
  cudnn::Order order = cudnn::Order::Nchw;
  estimate::QueryCache queries;
};

}  // namespace

int explainWorkspaces(show::Out& out, State& state, const WorkspaceView& view) {
  const std::string name = view.engines.device.empty() ? "h200" : view.engines.device;
  auto asked = openAskedDevice(*state.workspace, {name, view.engines.cudnn, state.request.target.backend == "pytorch"},
                               state.enginesAsked, state.events);
  if (!asked) return out.fail(asked.error());
  Explainer explainer(out, state, view, std::move(asked->device), std::move(asked->source));
  if (!view.limit.empty()) {
    const auto limit = report::parseBytes(view.limit);
    if (!limit) {
      out.failure(fmt::format("--workspace-limit {}: {}", view.limit, limit.error()));
      return kUsage;
    }
    explainer.policy.limit = *limit;
  }
  int status = kOk;
  for (const RowState& row : state.rows) {
    status = explainer.row(row);
    if (status != kOk) break;
  }
  if (const std::string why = explainer.answers().keep(); !why.empty()) out.note("cuDNN's answers cannot be kept: " + why);
  return status;
}

}  // namespace tbem::driver
