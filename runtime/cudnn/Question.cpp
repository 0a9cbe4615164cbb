#include "runtime/cudnn/Question.h"

namespace tbem::cudnn {

namespace {

using Four = std::array<std::int64_t, 4>;
constexpr std::int64_t kAlignment = 16;  // of tensors, bytes: what frameworks promise cuDNN

/// The attributes of an operation, which have other numbers in each pass.
struct Operation {
  api::Descriptor type;
  api::Attribute alpha, beta, convolution, x, w, y;
};
constexpr std::array<Operation, 3> kOperations{{
    {api::kConvolutionForward, api::kForwardAlpha, api::kForwardBeta, api::kForwardConvolution, api::kForwardX, api::kForwardW,
     api::kForwardY},
    {api::kConvolutionBackwardData, api::kDataAlpha, api::kDataBeta, api::kDataConvolution, api::kDataDx, api::kDataW,
     api::kDataDy},
    {api::kConvolutionBackwardFilter, api::kFilterAlpha, api::kFilterBeta, api::kFilterConvolution, api::kFilterX, api::kFilterDw,
     api::kFilterDy},
}};

int dataType(std::int32_t dtype) { return dtype == TBEM_F16 ? api::kF16 : dtype == TBEM_BF16 ? api::kBf16 : api::kF32; }

Four strides(const Four& d, Order order) {
  if (order == Order::Nhwc) return {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]};
  return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

std::uint32_t notes(const Descriptor& engine, api::Attribute attribute, api::Type type) {
  std::uint32_t bits = 0;
  for (const int note : engine.list<int>(attribute, type, api::kMostNotes)) {
    if (note >= 0 && note < 32) bits |= 1U << static_cast<unsigned>(note);
  }
  return bits;
}

Descriptor convolutionOf(const Question& question, const Convolution& problem) {
  Descriptor c = question.make(api::kConvolution);
  const auto pair = [&](api::Attribute attribute, std::int64_t rows, std::int64_t columns) {
    const std::array<std::int64_t, 2> both{rows, columns};
    c.set<std::int64_t>(attribute, api::kInt64, std::span<const std::int64_t>(both));
  };
  c.set(api::kConvolutionComputeType, api::kDataType, +api::kF32);
  c.set(api::kConvolutionMode, api::kMode, api::kCrossCorrelation);
  c.set(api::kConvolutionSpatialDims, api::kInt64, std::int64_t{2});
  pair(api::kConvolutionDilations, problem.dilation[0], problem.dilation[1]);
  pair(api::kConvolutionStrides, problem.stride[0], problem.stride[1]);
  pair(api::kConvolutionPrePaddings, problem.pad[0], problem.pad[1]);
  pair(api::kConvolutionPostPaddings, problem.pad[2], problem.pad[3]);
  c.finish("a convolution");
  return c;
}

}  // namespace

Descriptor graphOf(const Question& question, const Convolution& problem) {
  const auto tensor = [&](std::int64_t id, const Four& dims) {
    Descriptor t = question.openTensor(id, dims, strides(dims, problem.order), dataType(problem.dtype));
    t.finish("a tensor");
    return t;
  };
  const Operation& names = kOperations[static_cast<std::size_t>(problem.pass)];
  const Descriptor x = tensor(kImage, problem.x()), w = tensor(kWeight, problem.weight()), y = tensor(kResult, problem.y());
  const Descriptor conv = convolutionOf(question, problem);
  std::vector<Descriptor> operations;
  Descriptor& operation = operations.emplace_back(question.make(names.type));
  operation.set(names.alpha, api::kFloat, 1.0F);
  operation.set(names.beta, api::kFloat, 0.0F);
  operation.set(names.convolution, conv);
  operation.set(names.x, x);
  operation.set(names.w, w);
  operation.set(names.y, y);
  operation.finish("an operation");
  return question.graphOf(operations);
}

std::vector<std::int64_t> tensorsOf(const Convolution&) { return {kImage, kWeight, kResult}; }
std::vector<Constant> constantsOf(const Convolution&) { return {}; }

Descriptor Question::openTensor(std::int64_t id, const Four& dims, const Four& strides, int type) const {
  Descriptor t = make(api::kTensor);
  t.set(api::kTensorType, api::kDataType, type);
  t.set<std::int64_t>(api::kTensorDimensions, api::kInt64, std::span<const std::int64_t>(dims));
  t.set<std::int64_t>(api::kTensorStrides, api::kInt64, std::span<const std::int64_t>(strides));
  t.set(api::kTensorId, api::kInt64, id);
  t.set(api::kTensorAlignment, api::kInt64, kAlignment);
  return t;
}

Descriptor Question::graphOf(const std::vector<Descriptor>& operations) const {
  std::vector<void*> raw;
  raw.reserve(operations.size());
  for (const Descriptor& operation : operations) raw.push_back(operation.get());
  Descriptor graph = make(api::kOperationGraph);
  if (handle != nullptr) graph.set(api::kGraphHandle, api::kHandle, handle);
  graph.set<void*>(api::kGraphOperations, api::kDescriptor, std::span<void* const>(raw));
  graph.finish("a graph");
  return graph;
}

Descriptor Question::graph() const {
  return std::visit([this](const auto& asked) { return cudnn::graphOf(*this, asked); }, problem);
}

Engine Question::read(const Descriptor& config) const {
  Engine engine;
  engine.workspace = static_cast<std::uint64_t>(config.one<std::int64_t>(api::kConfigWorkspace, api::kInt64));
  for (const Descriptor& part : config.parts(api::kConfigEngine, api::kEngine, 1)) {
    engine.index = part.one<std::int64_t>(api::kEngineIndex, api::kInt64);
    engine.numerical = notes(part, api::kEngineNumericalNote, api::kNumericalNote);
    engine.behaviour = notes(part, api::kEngineBehaviourNote, api::kBehaviourNote);
  }
  for (const Descriptor& knob : config.parts(api::kConfigKnobs, api::kKnobChoice, api::kMostKnobs)) {
    engine.knobs.push_back(knob.one<int>(api::kKnobType, api::kKnob));
    engine.knobs.push_back(knob.one<std::int64_t>(api::kKnobValue, api::kInt64));
  }
  return engine;
}

std::vector<Engine> Question::ask(const Descriptor* described, List list) const {
  const Descriptor asked = graph();
  Descriptor heuristic = make(api::kEngineHeuristic);
  heuristic.set(api::kHeuristicGraph, asked);
  heuristic.set(api::kHeuristicMode, api::kHeuristic, list == List::Heuristic ? +api::kModeA : +api::kFallback);
  if (described != nullptr) heuristic.set(api::kHeuristicDevice, *described);
  heuristic.finish("a heuristic");
  std::vector<Engine> engines;
  for (const Descriptor& config : heuristic.parts(api::kHeuristicResults, api::kEngineConfig, api::kMostEngines)) {
    engines.push_back(read(config));
  }
  return engines;
}

Descriptor Question::config(const Descriptor& graph, const Engine& engine) const {
  Descriptor chosen = make(api::kEngine);
  chosen.set(api::kEngineGraph, graph);
  chosen.set(api::kEngineIndex, api::kInt64, engine.index);
  chosen.finish("an engine");
  std::vector<Descriptor> choices;
  std::vector<void*> raw;
  for (std::size_t k = 0; k + 1 < engine.knobs.size(); k += 2) {
    Descriptor& choice = choices.emplace_back(make(api::kKnobChoice));
    choice.set(api::kKnobType, api::kKnob, static_cast<int>(engine.knobs[k]));
    choice.set(api::kKnobValue, api::kInt64, engine.knobs[k + 1]);
    choice.finish("a knob");
    raw.push_back(choice.get());
  }
  Descriptor config = make(api::kEngineConfig);
  config.set(api::kConfigEngine, chosen);
  if (!raw.empty()) config.set<void*>(api::kConfigKnobs, api::kDescriptor, std::span<void* const>(raw));
  config.finish("an engine's configuration");
  return config;
}

}  // namespace tbem::cudnn
