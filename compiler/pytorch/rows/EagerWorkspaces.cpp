#include "compiler/pytorch/rows/EagerWorkspaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

namespace tbem::driver {

EagerWorkspaces::EagerWorkspaces(AskedDevice asked, const EngineRequest& request)
    : device(std::move(asked.device)), source(std::move(asked.source)) {
  policy.tf32 = request.tf32 != "off";
  policy.nondeterministic = true;  // torch.backends.cudnn.deterministic is off
  order = request.layout == "nhwc" ? cudnn::Order::Nhwc : cudnn::Order::Nchw;
}

tl::expected<EagerWorkspaces, Failed> EagerWorkspaces::open(State& state, const EngineRequest& request) {
  auto asked = openAskedDevice(*state.workspace, {request.device, request.cudnn, true}, state.enginesAsked, state.events);
  if (!asked) return tl::unexpected(asked.error());
  return EagerWorkspaces(std::move(*asked), request);
}

namespace {

/// A depthwise convolution that PyTorch computes by a kernel of its own, without a workspace (ATen's use_cudnn_depthwise and
/// is_depthwise): with the channels outermost all but those of f16.
bool isOwnDepthwise(const cudnn::Convolution& problem) {
  const bool depthwise = problem.groups > 1 && problem.groups == problem.c && problem.out % problem.c == 0;
  return depthwise && problem.order == cudnn::Order::Nchw && problem.dtype != TBEM_F16;
}

}  // namespace

std::size_t EagerWorkspaces::ProblemHash::operator()(const cudnn::Convolution& p) const {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a, a number at a time
  const auto add = [&hash](std::int64_t number) { hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211U; };
  for (const std::int64_t number : {static_cast<std::int64_t>(p.pass), p.n, p.c, p.h, p.w, p.out, p.kernel[0], p.stride[0]})
    add(number);
  return hash;
}

estimate::EagerWorkspace EagerWorkspaces::ask(cudnn::Convolution problem, cudnn::Pass pass) {
  problem.pass = pass;
  const auto [place, isNew] = answers.try_emplace(problem);
  if (isNew) place->second = answer(problem);
  return place->second.workspace;
}

EagerWorkspaces::Answer EagerWorkspaces::answer(const cudnn::Convolution& problem) {
  AskedConvolution one;
  one.problem = problem;
  if (std::string why = askEngines(one, source, policy); !why.empty()) {
    failure = std::move(why);
    return {};
  }
  if (one.origin != Origin::Cudnn) ++notListed;
  if (!one.first) return {};
  const auto bytes = [&](const std::optional<std::size_t>& at) { return one.engines[*at].workspace; };
  Answer answer;
  answer.workspace = {bytes(one.first), 0, bytes(one.largest), {}};
  if (one.origin != Origin::Cudnn) return answer;
  answer.workspace.least = bytes(one.smallest);
  for (std::uint64_t last = answer.workspace.bytes; const cudnn::Engine& engine : std::span(one.engines).subspan(*one.first)) {
    if (engine.workspace >= last || !cudnn::mayTake(problem, engine, policy)) continue;
    answer.smaller.push_back(last = engine.workspace);
  }
  answer.workspace.smaller = answer.smaller;
  return answer;
}

estimate::OperatorWorkspaces EagerWorkspaces::of(const graph::Graph& graph, const sema::Values& values, graph::OpId id) {
  const graph::Op& op = graph[id];
  if (op.primitive != TBEM_PRIMITIVE_conv2d || !failure.empty()) return {};
  const auto x = estimate::dimsOf(graph, values, op.inputs[0]);
  const auto weight = estimate::dimsOf(graph, values, op.inputs[1]);
  const tbem_dtype dtype = graph[op.inputs[0]].dtype;
  if (!x || !weight || (dtype != TBEM_F32 && dtype != TBEM_F16 && dtype != TBEM_BF16)) {
    ++notListed;
    return {};
  }
  const auto attribute = [&](std::string_view name, auto& into) {
    const auto found = std::ranges::find(op.attributes, name, &graph::Attribute::name);
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = values.integer(found->values[i]);
  };
  cudnn::Convolution problem;
  problem.dtype = dtype;
  problem.order = order;
  std::tie(problem.n, problem.c, problem.h, problem.w) = std::tuple((*x)[0], (*x)[1], (*x)[2], (*x)[3]);
  problem.out = (*weight)[0];
  problem.kernel = {(*weight)[2], (*weight)[3]};
  attribute("stride", problem.stride);
  attribute("pad", problem.pad);
  attribute("dilation", problem.dilation);
  std::array<std::int64_t, 1> groups{};
  attribute("groups", groups);
  problem.groups = groups[0];
  estimate::OperatorWorkspaces bytes;
  if (isOwnDepthwise(problem)) {
    bytes.weightFirst = true;
    return bytes;
  }
  bytes.forward = ask(problem, cudnn::Pass::Forward);
  if (!graph.training) return bytes;
  bytes.dataGradient = ask(problem, cudnn::Pass::DataGradient);
  bytes.weightGradient = ask(problem, cudnn::Pass::WeightGradient);
  return bytes;
}

void EagerWorkspaces::keep(Events& events) {
  if (source.leftOut() != 0)
    events.note(
        fmt::format("cuDNN was asked for {} lists of engines, the limit of one command; {} others on {} are as without "
                    "it (docs/devices.md). What it said is kept: the same command goes on from there",
                    EngineSource::kMostAsked, source.leftOut(), device.name));
  if (const std::string why = source.keep(); !why.empty()) events.note("cuDNN's answers cannot be kept: " + why);
}

}  // namespace tbem::driver
