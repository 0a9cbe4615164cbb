#include "test/standin/Cudnn.h"

#include <array>
#include <cstring>

namespace tbem::standin {

namespace {

using Four = std::array<std::int64_t, 4>;

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

/// The three tensors of an operation and its convolution, which have other numbers in each pass.
struct Names {
  int convolution, x, w, y;
};
Names namesOf(int operation) {
  if (operation == kForward) return {702, 704, 703, 705};
  return operation == kDataGradient ? Names{708, 710, 709, 711} : Names{714, 716, 715, 717};
}

struct Tensor {
  Four dims{}, strides{};
  std::int64_t id = 0, alignment = 0;
  float* memory = nullptr;
  float& at(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
    return memory[i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3]];
  }
  std::int64_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

bool read(const Descriptor* descriptor, Tensor& tensor) {
  if (descriptor == nullptr) return false;
  const auto dims = descriptor->list<std::int64_t>(902), strides = descriptor->list<std::int64_t>(903);
  if (descriptor->one<int>(901) != 0 || dims.size() != 4 || strides.size() != 4) return false;
  std::copy(dims.begin(), dims.end(), tensor.dims.begin());
  std::copy(strides.begin(), strides.end(), tensor.strides.begin());
  tensor.id = descriptor->one<std::int64_t>(906);
  tensor.alignment = descriptor->one<std::int64_t>(900);
  return tensor.alignment > 0;
}

struct Problem {
  int operation = 0;
  Tensor x, w, y;
  std::array<std::int64_t, 2> dilation{}, stride{}, before{}, after{};
};

bool pair(const Descriptor& convolution, int attribute, std::array<std::int64_t, 2>& values) {
  const auto list = convolution.list<std::int64_t>(attribute);
  if (list.size() != 2) return false;
  values = {list[0], list[1]};
  return true;
}

/// False where sizes do not go together, or what is asked is no cross-correlation in f32.
bool read(const Descriptor& graph, Problem& problem) {
  const Descriptor* const operation = graph.part(801);
  if (operation == nullptr) return false;
  problem.operation = operation->type;
  const Names names = namesOf(operation->type);
  const Descriptor* const convolution = operation->part(names.convolution);
  if (convolution == nullptr || convolution->one<int>(100) != 0 || convolution->one<int>(101) != 1) return false;
  if (!read(operation->part(names.x), problem.x) || !read(operation->part(names.w), problem.w) ||
      !read(operation->part(names.y), problem.y))
    return false;
  if (!pair(*convolution, 102, problem.dilation) || !pair(*convolution, 103, problem.stride) ||
      !pair(*convolution, 104, problem.after) || !pair(*convolution, 105, problem.before))
    return false;
  const Four &x = problem.x.dims, &w = problem.w.dims, &y = problem.y.dims;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::int64_t room = x[2 + k] + problem.before[k] + problem.after[k] - problem.dilation[k] * (w[2 + k] - 1) - 1;
    if (room < 0 || y[2 + k] != room / problem.stride[k] + 1) return false;
  }
  return x[0] == y[0] && w[0] == y[1] && x[1] % w[1] == 0 && y[1] % (x[1] / w[1]) == 0;
}

/// Calls `body(x, w, y)` for each product of a forward convolution's sum.
template <class Body>
void forEach(const Problem& p, Body body) {
  const Four &x = p.x.dims, &w = p.w.dims, &y = p.y.dims;
  const std::int64_t outs = y[1] / (x[1] / w[1]);  // of a group
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t o = 0; o < y[1]; ++o)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j)
          for (std::int64_t c = 0; c < w[1]; ++c)
            for (std::int64_t k = 0; k < w[2]; ++k)
              for (std::int64_t l = 0; l < w[3]; ++l) {
                const std::int64_t row = i * p.stride[0] - p.before[0] + k * p.dilation[0];
                const std::int64_t column = j * p.stride[1] - p.before[1] + l * p.dilation[1];
                if (row < 0 || column < 0 || row >= x[2] || column >= x[3]) continue;
                body(p.x.at(n, o / outs * w[1] + c, row, column), p.w.at(o, c, k, l), p.y.at(n, o, i, j));
              }
}

// The engines of every convolution, as the heuristic lists them: on tensor cores; exact, with a knob; and one that adds in an
// order that changes. Those whose results are not to be taken give none that could pass for right.
constexpr std::int64_t kTensorCores = 7, kExact = 3, kChanging = 4, kKnobType = 2, kKnobValue = 5, kWorkspace = 320;

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
  put(config, 303, index == kExact ? kWorkspace : std::int64_t{0});
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
  put(config, 303, index == kExact ? kWorkspace : std::int64_t{0});
  return index == kExact || index == kTensorCores || index == kChanging ? kFine : kUnsupported;
}

int finishPlan(Descriptor& plan) {
  const Descriptor* const config = plan.part(401);
  if (config == nullptr || plan.one<void*>(400) == nullptr) return kBadParameter;
  put(plan, 402, config->one<std::int64_t>(303));
  return kFine;
}

}  // namespace

std::size_t bytesOf(int type) {
  constexpr std::array<std::size_t, 25> kBytes{8, 4, 1, 8, 4, 8, 8, 4, 4, 4, 4, 4, 0, 0, 0, 8, 4, 4, 4, 4, 0, 0, 0, 4, 1};
  return type >= 0 && type < static_cast<int>(kBytes.size()) ? kBytes[static_cast<std::size_t>(type)] : 0;
}

int finish(Descriptor& descriptor) {
  Problem problem;
  if (descriptor.type == kGraph) return read(descriptor, problem) ? kFine : kBadParameter;
  if (descriptor.type == kEngine) return descriptor.part(1300) != nullptr ? kFine : kBadParameter;
  if (descriptor.type == kConfig) return finishConfig(descriptor);
  if (descriptor.type == kPlan) return finishPlan(descriptor);
  if (descriptor.type == kHeuristic) {
    if (descriptor.part(201) == nullptr) return kBadParameter;
    const std::shared_ptr<Descriptor> graph = descriptor.parts[201].front();
    descriptor.parts[202] = {configOf(graph, kTensorCores, 0), configOf(graph, kChanging, 4), configOf(graph, kExact, -1)};
  }
  return kFine;
}

int execute(const Descriptor& plan, const Descriptor& pack) {
  const Descriptor& engine = *plan.part(401)->part(300);
  Problem problem;
  if (!read(*engine.part(1300), problem) || engine.one<std::int64_t>(1301) != kExact) return kFailed;
  const auto ids = pack.list<std::int64_t>(1000);
  const auto pointers = pack.list<float*>(1001);
  if (ids.size() != 3 || pointers.size() != 3) return kBadParameter;
  for (Tensor* tensor : {&problem.x, &problem.w, &problem.y}) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == tensor->id) tensor->memory = pointers[i];
    }
    if (tensor->memory == nullptr || reinterpret_cast<std::uintptr_t>(tensor->memory) % tensor->alignment != 0)
      return kBadParameter;
  }
  void* const workspace = pack.one<void*>(1003);
  if (workspace == nullptr) return kBadParameter;
  std::memset(workspace, 0xFF, kWorkspace);
  const Tensor& result = problem.operation == kForward ? problem.y : problem.operation == kDataGradient ? problem.x : problem.w;
  std::fill_n(result.memory, result.count(), 0.0F);
  if (problem.operation == kForward) {
    forEach(problem, [](float x, float w, float& y) { y += x * w; });
  } else if (problem.operation == kDataGradient) {
    forEach(problem, [](float& x, float w, float y) { x += y * w; });
  } else {
    forEach(problem, [](float x, float& w, float y) { w += x * y; });
  }
  return kFine;
}

}  // namespace tbem::standin
