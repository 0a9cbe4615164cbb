#include "test/standin/Cudnn.h"

#include "test/standin/Graph.h"
#include "test/standin/Run.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tbem::standin {

namespace {

// Kinds of descriptors and their attributes that are looked at.
enum : int {
  kEngine = 2,
  kConfig = 3,
  kHeuristic = 4,
  kPlan = 5,
  kKnob = 7,
  kForward = 10,
  kWeightGradient = 11,
  kDataGradient = 12,
  kGraph = 15,
  kPack = 16,
};

constexpr int kF32 = 0, kF16 = 2, kBf16 = 9;  // types of elements

/// The three tensors of an operation and its convolution, which have other numbers in each pass.
struct Names {
  int convolution, x, w, y;
};
Names namesOf(int operation) {
  if (operation == kForward) return {702, 704, 703, 705};
  return operation == kDataGradient ? Names{708, 710, 709, 711} : Names{714, 716, 715, 717};
}

/// A tensor of a graph; `first` of it is not known before a plan runs.
struct Described {
  Tensor tensor{};
  std::int64_t id = 0, alignment = 0;
};

bool read(const Descriptor* descriptor, Described& described) {
  if (descriptor == nullptr) return false;
  const auto dims = descriptor->list<std::int64_t>(902), strides = descriptor->list<std::int64_t>(903);
  const int type = descriptor->one<int>(901);
  if ((type != kF32 && type != kF16 && type != kBf16) || dims.size() != 4 || strides.size() != 4) return false;
  described.tensor.type = type == kF32 ? Type::F32 : type == kF16 ? Type::F16 : Type::Bf16;
  std::copy(dims.begin(), dims.end(), described.tensor.dims);
  std::copy(strides.begin(), strides.end(), described.tensor.strides);
  described.id = descriptor->one<std::int64_t>(906);
  described.alignment = descriptor->one<std::int64_t>(900);
  return described.alignment > 0;
}

struct Problem {
  int operation = 0;
  Described x, w, y;
  std::array<std::int64_t, 2> dilation{}, stride{}, before{}, after{};
};

bool pair(const Descriptor& convolution, int attribute, std::array<std::int64_t, 2>& values) {
  const auto list = convolution.list<std::int64_t>(attribute);
  if (list.size() != 2) return false;
  values = {list[0], list[1]};
  return true;
}

/// False where sizes do not go together, or what is asked is no cross-correlation of tensors of one type with sums in f32.
bool read(const Descriptor& graph, Problem& problem) {
  const Descriptor* const operation = graph.part(801);
  if (operation == nullptr || operation->type < kForward || operation->type > kDataGradient) return false;
  problem.operation = operation->type;
  const Names names = namesOf(operation->type);
  const Descriptor* const convolution = operation->part(names.convolution);
  if (convolution == nullptr || convolution->one<int>(100) != 0 || convolution->one<int>(101) != 1) return false;
  if (!read(operation->part(names.x), problem.x) || !read(operation->part(names.w), problem.w) ||
      !read(operation->part(names.y), problem.y))
    return false;
  if (problem.x.tensor.type != problem.w.tensor.type || problem.x.tensor.type != problem.y.tensor.type) return false;
  if (!pair(*convolution, 102, problem.dilation) || !pair(*convolution, 103, problem.stride) ||
      !pair(*convolution, 104, problem.after) || !pair(*convolution, 105, problem.before))
    return false;
  const auto &x = problem.x.tensor.dims, &w = problem.w.tensor.dims, &y = problem.y.tensor.dims;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::int64_t room = x[2 + k] + problem.before[k] + problem.after[k] - problem.dilation[k] * (w[2 + k] - 1) - 1;
    if (room < 0 || y[2 + k] != room / problem.stride[k] + 1) return false;
  }
  return x[0] == y[0] && w[0] == y[1] && x[1] % w[1] == 0 && y[1] % (x[1] / w[1]) == 0;
}

// The engines of every convolution, as the heuristic lists them: on tensor cores, which round f32 to TF32; exact, with a knob;
// and one that adds in an order that changes, whose results are never to be taken.
constexpr std::int64_t kTensorCores = 7, kExact = 3, kChanging = 4, kKnobType = 2, kKnobValue = 5;
// Those of every graph of several operations; the second one adds in an order that changes.
constexpr std::int64_t kFused = 9, kFusedChanging = 10;

/// Bytes that an engine needs for the convolution of a graph; none of those that change. Tensor cores read channels beside each
/// other, so that cuDNN's engines on them copy row-major images into their workspace: that of these is larger then.
std::int64_t workspaceOf(std::int64_t engine, const Descriptor& graph) {
  constexpr std::int64_t kExactly = 320, kOnTensorCores = 192, kCopied = 64;
  if (engine == kExact) return kExactly;
  if (engine == kFused) return workspaceOf(graph);
  if (engine != kTensorCores) return 0;
  Problem problem;
  const bool channelsLast = read(graph, problem) && problem.x.tensor.strides[1] == 1;
  return kOnTensorCores + (channelsLast ? 0 : kCopied);
}

template <class T>
void put(Descriptor& descriptor, int attribute, T value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  descriptor.values[attribute].assign(first, first + sizeof value);
}

std::shared_ptr<Descriptor> finished(Descriptor made) {
  made.finished = true;
  return std::make_shared<Descriptor>(std::move(made));
}

std::shared_ptr<Descriptor> configOf(const std::shared_ptr<Descriptor>& graph, std::int64_t index, int note) {
  Descriptor engine{.type = kEngine};
  engine.parts[1300] = {graph};
  put(engine, 1301, index);
  if (note >= 0) put(engine, 1303, note);
  Descriptor knob{.type = kKnob};
  put(knob, 600, static_cast<int>(kKnobType));
  put(knob, 601, kKnobValue);
  Descriptor config{.type = kConfig};
  config.parts[300] = {finished(std::move(engine))};
  if (index == kExact) config.parts[302] = {finished(std::move(knob))};
  put(config, 303, workspaceOf(index, *graph));
  return finished(std::move(config));
}

/// Of the engine with the knob that it was listed with; else it is another one, which there is not.
int finishConfig(Descriptor& config) {
  const Descriptor* const engine = config.part(300);
  if (engine == nullptr) return kBadParameter;
  const std::int64_t index = engine->one<std::int64_t>(1301);
  if (index == kExact) {
    const Descriptor* const knob = config.part(302);
    if (knob == nullptr || knob->one<int>(600) != kKnobType || knob->one<std::int64_t>(601) != kKnobValue) return kUnsupported;
  }
  const Descriptor* const graph = engine->part(1300);
  if (graph == nullptr) return kBadParameter;
  put(config, 303, workspaceOf(index, *graph));
  const bool fused = index == kFused || index == kFusedChanging;
  const bool known = isGraph(*graph) ? fused : index == kExact || index == kTensorCores || index == kChanging;
  return known ? kFine : kUnsupported;
}

int plansMade = 0;

int finishPlan(Descriptor& plan) {
  const Descriptor* const config = plan.part(401);
  if (config == nullptr || plan.one<void*>(400) == nullptr) return kBadParameter;
  ++plansMade;
  put(plan, 402, config->one<std::int64_t>(303));
  return kFine;
}

}  // namespace

int madePlans() { return plansMade; }

std::size_t bytesOf(int type) {
  constexpr std::array<std::size_t, 25> kBytes{8, 4, 1, 8, 4, 8, 8, 4, 4, 4, 4, 4, 0, 0, 4, 8, 4, 4, 4, 4, 0, 0, 0, 4, 1};
  return type >= 0 && type < static_cast<int>(kBytes.size()) ? kBytes[static_cast<std::size_t>(type)] : 0;
}

int finish(Descriptor& descriptor) {
  Problem problem;
  if (descriptor.type == kGraph) return read(descriptor, problem) || isGraph(descriptor) ? kFine : kBadParameter;
  if (descriptor.type == kEngine) return descriptor.part(1300) != nullptr ? kFine : kBadParameter;
  if (descriptor.type == kConfig) return finishConfig(descriptor);
  if (descriptor.type == kPlan) return finishPlan(descriptor);
  if (descriptor.type == kHeuristic) {
    if (descriptor.part(201) == nullptr) return kBadParameter;
    const std::shared_ptr<Descriptor> graph = descriptor.parts[201].front();
    if (isGraph(*graph)) {
      descriptor.parts[202] = {configOf(graph, kFusedChanging, 4), configOf(graph, kFused, 0)};
    } else {
      descriptor.parts[202] = {configOf(graph, kTensorCores, 0), configOf(graph, kChanging, 4), configOf(graph, kExact, -1)};
    }
  }
  return kFine;
}

int execute(const Descriptor& plan, const Descriptor& pack, void* stream) {
  const Descriptor& engine = *plan.part(401)->part(300);
  Problem problem;
  const std::int64_t index = engine.one<std::int64_t>(1301);
  if (index == kFused) return executeGraph(*engine.part(1300), pack, stream);
  if (!read(*engine.part(1300), problem) || index == kChanging) return kFailed;
  const auto ids = pack.list<std::int64_t>(1000);
  const auto pointers = pack.list<void*>(1001);
  if (ids.size() != 3 || pointers.size() != 3) return kBadParameter;
  for (Described* described : {&problem.x, &problem.w, &problem.y}) {
    void*& first = described->tensor.first;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == described->id) first = pointers[i];
    }
    if (first == nullptr || reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uint64_t>(described->alignment) != 0)
      return kBadParameter;
  }
  void* const workspace = pack.one<void*>(1003);
  if (workspace == nullptr) return kBadParameter;
  for (Described* described : {&problem.x, &problem.w, &problem.y}) {
    if (index == kTensorCores && described->tensor.type == Type::F32) described->tensor.type = Type::Tf32;
  }
  const Wanted wanted = problem.operation == kForward ? Wanted::Y : problem.operation == kDataGradient ? Wanted::X : Wanted::W;
  const ConvWork work{wanted,
                      problem.x.tensor,
                      problem.w.tensor,
                      problem.y.tensor,
                      {problem.dilation[0], problem.dilation[1]},
                      {problem.stride[0], problem.stride[1]},
                      {problem.before[0], problem.before[1]}};
  const auto bytes = static_cast<std::size_t>(workspaceOf(index, *engine.part(1300)));
  return spoil(workspace, bytes, stream).fine() && run(work, stream).fine() ? kFine : kFailed;
}

}  // namespace tbem::standin
