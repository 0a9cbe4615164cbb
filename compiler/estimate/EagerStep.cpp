#include "compiler/estimate/EagerStep.h"

#include "compiler/estimate/Dims.h"
#include "compiler/estimate/Layout.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace tbem::estimate {

using graph::index;
using graph::TensorId;

std::string_view eagerKindName(EagerKind kind) {
  constexpr std::array<std::string_view, kEagerKinds> kNames{"weights",
                                                             "buffers",
                                                             "input",
                                                             "optimizer",
                                                             "gradients",
                                                             "activations",
                                                             "activation gradients",
                                                             "temporaries",
                                                             "cuDNN workspaces",
                                                             "cuBLAS workspaces"};
  return kNames[static_cast<std::size_t>(kind)];
}

ProductWorkspaces productWorkspaces(std::int64_t capability, const AllocatorVersion& version) {
  constexpr std::uint64_t kKiB = 1024, kHopper = 4096 * 8 * kKiB, kBefore = 2 * 4096 * kKiB + 8 * 16 * kKiB;
  return {capability >= 90 ? kHopper : kBefore, 1024 * kKiB, version.keepsProductWorkspaces, version.keepsBiasWorkspaces};
}

namespace {

constexpr std::uint32_t kNoTensorYet = UINT32_MAX;

/// Runs the operators as autograd does and writes down what happens to memory. A tensor lives while something holds it.
class Engine {
public:
  Engine(const EagerReader& reader, const sema::Values& values, const EagerOptions& options, EagerStep& step)
      : graph(reader.graph()),
        values(values),
        options(options),
        step(step),
        operators(*step.operators),
        sizes(reader.sizes()),
        bytesOf(reader.bytes()),
        memory(graph.tensors.size(), kNoTensorYet),
        gradients(graph.tensors.size(), kNoTensorYet) {
    for (const graph::Graph::Weight& weight : graph.weights) weights.push_back(weight.value);
    std::ranges::sort(weights);
    // About what two steps come to; they grow by themselves where it is more.
    step.tensors.reserve(2 * graph.tensors.size());
    holders.reserve(2 * graph.tensors.size());
    step.events.reserve(4 * graph.tensors.size());
    differentiable.assign(graph.tensors.size(), false);
    for (const graph::Graph::Weight& weight : graph.weights) differentiable[index(weight.value)] = true;
    for (const EagerOperator& op : operators) {
      workspaces.push_back(workspacesOf(op));
      if (op.name.starts_with("conv") && op.name != "conv2d") ++step.notAsked;
    }
  }

  void run() {
    mark("model", 0);
    makePersistent();
    const int steps = graph.training ? 2 : 1;
    for (int number = 1; number <= steps; ++number) {
      if (graph.training) dropGradients();
      for (std::int64_t part = 0; part < graph.microBatches; ++part) {
        mark("forward", number);
        forward();
        if (!graph.training) break;
        mark("backward", number);
        backward();
      }
      if (!graph.training) continue;
      mark("optimizer", number);
      if (hasOption("clip_norm")) clipNorm();
      update(number == 1);
    }
  }

private:
  // ---- workspaces ----
  OperatorWorkspaces workspacesOf(const EagerOperator& op) const {
    if (op.name == "conv2d") return options.convolutions ? options.convolutions(op.op) : OperatorWorkspaces{};
    if (!isProduct(op)) return {};
    const auto always = [](std::uint64_t bytes) { return EagerWorkspace{bytes, bytes, bytes}; };
    const EagerWorkspace product = always(options.products.product);
    const EagerWorkspace withBias =
        options.products.withBiasKept || !hasEpilogue(op) ? EagerWorkspace{} : always(options.products.withBias);
    if (options.products.kept) return {withBias, {}, {}};
    return {hasEpilogue(op) ? withBias : product, product, product};
  }

  /// Whether the bias is added by cuBLASLt (isInputCompliesAddmmCudaLt in aten/src/ATen/native/cuda/Blas.cpp): both of the
  /// weight's dimensions are more than 1.
  bool hasEpilogue(const EagerOperator& op) const {
    if (op.name != "dense" || op.weights.size() < 2) return false;
    const auto dims = dimsOf(graph, values, op.weights.front());
    return dims && std::ranges::all_of(*dims, [](std::int64_t length) { return length > 1; });
  }

  bool keepsWorkspaces(const EagerOperator& op) const { return options.products.kept && isProduct(op); }
  static bool isProduct(const EagerOperator& op) { return op.name == "dense" || op.name == "matmul"; }
  static TensorId biasOf(const EagerOperator& op) { return op.weights.size() < 2 ? graph::kNoTensor : op.weights[1]; }

  /// What a thread's first product takes, where it is never given back.
  struct KeptWorkspaces {
    bool product = false, withBias = false;
  };
  void keepProductWorkspaces(KeptWorkspaces& kept, bool epilogue) {
    if (!std::exchange(kept.product, true)) allocate(options.products.product, EagerKind::Cublas);
    if (epilogue && options.products.withBiasKept && !std::exchange(kept.withBias, true))
      allocate(options.products.withBias, EagerKind::Cublas);
  }

  static EagerKind workspaceKind(const EagerOperator& op) { return op.name == "conv2d" ? EagerKind::Cudnn : EagerKind::Cublas; }

  // ---- memory ----
  std::uint32_t allocate(std::uint64_t bytes, EagerKind kind) { return allocate(EagerWorkspace{bytes, bytes, bytes}, kind); }
  std::uint32_t allocate(const EagerWorkspace& size, EagerKind kind) {
    const auto id = static_cast<std::uint32_t>(step.tensors.size());
    step.tensors.push_back({size, kind, current});
    holders.push_back(1);
    step.events.push_back({id, false});
    return id;
  }
  std::uint32_t hold(std::uint32_t id) {
    if (id != kNoTensorYet) ++holders[id];
    return id;
  }
  void release(std::uint32_t id) {
    if (id != kNoTensorYet && --holders[id] == 0) step.events.push_back({id, true});
  }
  void mark(std::string phase, int number) { step.marks.push_back({std::move(phase), step.events.size(), number}); }
  std::uint64_t bytes(TensorId tensor) {
    std::uint64_t& known = bytesOf[index(tensor)];
    if (known != EagerReader::kNotRead) return known;
    known = 0;
    if (readDims(graph, values, tensor, dims)) return known;  // no operator touches it: those were read before
    const std::int64_t count = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    return known = static_cast<std::uint64_t>(count) * elementBytes(graph[tensor].dtype);
  }
  std::uint32_t& at(TensorId tensor) { return memory[index(tensor)]; }

  // ---- before the first step ----
  void makePersistent() {
    for (const graph::Graph::Weight& weight : graph.weights) at(weight.value) = allocate(bytes(weight.value), EagerKind::Weights);
    for (const TensorId buffer : graph.buffers) at(buffer) = allocate(bytes(buffer), EagerKind::Buffers);
    for (const EagerOperator& op : operators) {
      if (op.name == "batch_norm") allocate(8, EagerKind::Buffers);  // num_batches_tracked
    }
    for (const TensorId input : graph.inputs) at(input) = allocate(bytes(input), EagerKind::Input);
  }

  // ---- forward ----
  void forward() {
    readers.assign(graph.tensors.size(), 0);
    for (const EagerOperator& op : operators) {
      for (const TensorId operand : op.operands) ++readers[index(operand)];
    }
    for (const TensorId output : graph.outputs) readers[index(output)] += graph.training ? 0 : 1;
    if (graph.loss != graph::kNoTensor) ++readers[index(graph.loss)];
    kept.clear();
    keptFrom.clear();
    for (current = 0; current < operators.size(); ++current) {
      const EagerOperator& op = operators[current];
      makeResults(op);
      // cuBLASLt's is there when its handle is asked for, which is cuBLAS's own and brings the workspace that stays.
      const std::uint32_t workspace = takeWorkspace(workspaces[current].forward);
      if (keepsWorkspaces(op)) keepProductWorkspaces(keptForward, hasEpilogue(op));
      release(workspace);
      keptFrom.push_back(kept.size());
      for (const TensorId tensor : op.kept) kept.push_back(hold(at(tensor)));
      for (const std::uint64_t extra : sizes[current].extras) kept.push_back(allocate(extra, EagerKind::Activations));
      const auto reads = [this](TensorId tensor) { return differentiable[index(tensor)]; };
      if (std::any_of(op.operands.begin(), op.operands.end(), reads) || !op.weights.empty()) {
        for (const TensorId result : op.results) differentiable[index(result)] = true;
      }
      for (const TensorId operand : op.operands) {
        if (--readers[index(operand)] == 0 && !isInput(operand)) drop(operand);
      }
      for (const TensorId result : op.results) {
        if (readers[index(result)] == 0) drop(result);
      }
    }
    current = kNoEagerOp;
    if (graph.training) return;
    for (const TensorId output : graph.outputs) drop(output);
  }

  std::uint32_t takeWorkspace(const EagerWorkspace& size) {
    return size.bytes != 0 || size.most != 0 ? allocate(size, workspaceKind(operators[current])) : kNoTensorYet;
  }
  void useWorkspace(const EagerWorkspace& size) { release(takeWorkspace(size)); }

  void makeResults(const EagerOperator& op) {
    const bool shares = op.result == EagerResult::View || op.result == EagerResult::Slice ||
                        (op.result == EagerResult::Reshape && !sizes[current].copies);
    for (const TensorId result : op.results) {
      if (op.result == EagerResult::Expand || (shares && op.operands.empty())) {
        at(result) = kNoTensorYet;
      } else {
        at(result) = shares ? hold(at(op.operands.front())) : allocate(bytes(result), EagerKind::Activations);
      }
    }
  }

  bool isInput(TensorId tensor) const { return graph[graph[tensor].storage].kind == graph::StorageClass::Input; }
  void drop(TensorId tensor) {
    release(at(tensor));
    at(tensor) = kNoTensorYet;
  }

  // ---- backward ----
  void backward() {
    const std::uint32_t ones = allocate(bytes(graph.loss), EagerKind::ActivationGradients);
    gradients[index(graph.loss)] = hold(ones);  // torch.autograd.backward holds what it starts from until it returns
    for (std::size_t i = operators.size(); i-- > 0;) {
      current = static_cast<std::uint32_t>(i);
      differentiate(operators[i]);
    }
    current = kNoEagerOp;
    release(ones);
    drop(graph.loss);  // backward() is called on it
  }

  void differentiate(const EagerOperator& op) {
    arrived.clear();
    for (const TensorId result : op.results) {
      if (gradients[index(result)] != kNoTensorYet) arrived.push_back(std::exchange(gradients[index(result)], kNoTensorYet));
    }
    if (!arrived.empty()) {
      made.clear();
      for (const auto* list : {&op.operands, &op.weights}) {
        for (const TensorId tensor : *list) {
          if (!differentiable[index(tensor)]) continue;
          made.emplace_back(tensor, gradientFor(op, tensor, arrived.front()));
          if (keepsWorkspaces(op) && tensor != biasOf(op)) keepProductWorkspaces(keptBackward, false);
          if (list == &op.operands) useWorkspace(workspaces[current].dataGradient);
          if (list == &op.operands) continue;
          if (tensor == op.weights.front()) {
            useWorkspace(workspaces[current].weightGradient);
          } else if (op.name == "dense") {
            useSumBuffers(op, tensor);
          }
        }
      }
      for (const std::uint32_t gradient : arrived) release(gradient);
      if (op.gradient == EagerGradient::Product) castProducts(op);
      releaseKept();
      for (const auto& [tensor, gradient] : made) give(tensor, gradient);
    } else {
      releaseKept();
    }
  }

  /// Products have the type of the result; autograd gives each operand its own.
  void castProducts(const EagerOperator& op) {
    const std::size_t wide = elementBytes(graph[op.results.front()].dtype);
    for (auto& [tensor, gradient] : made) {
      if (elementBytes(graph[tensor].dtype) >= wide) continue;
      const std::uint32_t cast = allocate(bytes(tensor), EagerKind::ActivationGradients);
      release(std::exchange(gradient, cast));
    }
  }

  /// Of a bias's gradient: the result's, summed over all but the last dimension.
  void useSumBuffers(const EagerOperator& op, TensorId bias) {
    const std::uint64_t element = elementBytes(graph[bias].dtype);
    const std::uint64_t row = bytes(bias), whole = bytes(op.results.front());
    if (row == 0) return;
    const SumBuffers buffers = sumBuffers(whole / row, row / element, std::max<std::uint64_t>(4, element), options.sums);
    if (buffers.partial == 0) return;
    const std::uint32_t partial = allocate(buffers.partial, EagerKind::Temporaries);
    release(allocate(buffers.counters, EagerKind::Temporaries));
    release(partial);
  }

  /// Of the last operator that still keeps anything.
  void releaseKept() {
    for (std::size_t i = keptFrom[current]; i < kept.size(); ++i) release(kept[i]);
    kept.resize(keptFrom[current]);
  }

  std::uint32_t gradientFor(const EagerOperator& op, TensorId tensor, std::uint32_t arrived) {
    const EagerKind kind = isWeight(tensor) ? EagerKind::Gradients : EagerKind::ActivationGradients;
    const std::uint64_t size = bytes(tensor);
    const TensorId result = op.results.front();
    // A part of a concatenation lies in it; an operand that was repeated along an axis needs a sum.
    const bool lies = op.gradient == EagerGradient::Pass && (op.name == "concat" ? size <= bytes(result) : size == bytes(result));
    if (lies && !isWeight(tensor)) return hold(arrived);
    if (op.gradient == EagerGradient::Loss) {
      const std::uint32_t first = allocate(size, kind);
      const std::uint32_t second = allocate(size, kind);
      release(first);
      return second;
    }
    if (op.gradient == EagerGradient::Product) {
      const std::uint64_t element = elementBytes(graph[result].dtype);
      const std::uint64_t own = size / elementBytes(graph[tensor].dtype) * element;
      if (own == bytes(result)) return allocate(own, kind);
      const std::uint32_t product = allocate(bytes(result), EagerKind::Temporaries);
      const std::uint32_t sum = allocate(own, kind);
      release(product);
      return sum;
    }
    return allocate(size, kind);
  }

  bool isWeight(TensorId tensor) const { return graph[graph[tensor].storage].kind == graph::StorageClass::Weight; }

  void give(TensorId tensor, std::uint32_t gradient) {
    if (isWeight(tensor)) {
      std::uint32_t& there = gradients[index(tensor)];
      if (there == kNoTensorYet)
        there = gradient;
      else
        release(gradient);  // added into the one that is there
      return;
    }
    std::uint32_t& there = gradients[index(tensor)];
    if (there == kNoTensorYet) {
      there = gradient;
      return;
    }
    const std::uint32_t sum = allocate(bytes(tensor), EagerKind::ActivationGradients);
    release(there);
    release(gradient);
    there = sum;
  }

  void dropGradients() {
    for (const TensorId weight : weights) release(std::exchange(gradients[index(weight)], kNoTensorYet));
  }

  // ---- optimiser ----
  /// One that is a number of the step: 0 is left out of it.
  bool hasOption(std::string_view name) const {
    return std::ranges::any_of(graph.scalars, [name](const auto& one) { return one.name.ends_with(name); });
  }

  /// torch.nn.utils.clip_grad_norm_, by foreach: a norm of each gradient, these in one tensor, the norm of that, and the factor
  /// in four steps; gradients are scaled in place. On CUDA norms are summed from those of pieces, whose numbers gradient by
  /// gradient lie beside them. What is taken, and in which order, is that of PyTorch 2.15 (test/pytorch/allocator/eager_steps.py
  /// --clip). Cutting each element takes nothing.
  void clipNorm() {
    constexpr std::uint64_t kPiece = 65536, kFloat = 4, kInteger = 8;
    const auto number = [this] { return allocate(kFloat, EagerKind::Temporaries); };
    std::uint64_t pieces = 0;
    for (const TensorId weight : weights) pieces += (bytes(weight) / elementBytes(graph[weight].dtype) + kPiece - 1) / kPiece;
    std::vector<std::uint32_t> partial, norms;
    if (options.device == EagerDevice::Cuda) {
      for (const std::uint64_t size : {kInteger * (weights.size() + 1), kFloat * pieces})
        partial.push_back(allocate(size, EagerKind::Temporaries));
    }
    for (std::size_t w = 0; w < weights.size(); ++w) norms.push_back(number());
    for (const std::uint32_t id : partial) release(id);
    const std::uint32_t all = allocate(kFloat * weights.size(), EagerKind::Temporaries);
    const std::uint32_t total = number();
    release(all);
    for (const std::uint32_t norm : norms) release(norm);
    const std::uint32_t more = number(), reciprocal = number(), factor = number();
    release(more);
    release(reciprocal);
    const std::uint32_t least = number();
    for (const std::uint32_t id : {least, factor, total}) release(id);
  }

  void update(bool first) {
    if (first) {
      const bool counts = step.optimizer == "adam" || step.optimizer == "adamw" || step.optimizer == "adagrad";
      const bool onDevice = options.device == EagerDevice::Cpu || options.update == EagerUpdate::Fused;
      for (std::size_t w = 0; counts && onDevice && w < graph.weights.size(); ++w) allocate(4, EagerKind::Optimizer);
      for (const TensorId state : graph.states) allocate(bytes(state), EagerKind::Optimizer);
    }
    if (options.update == EagerUpdate::Fused) return;
    const bool decays = step.optimizer != "adamw" && hasOption("weight_decay");
    const bool roots =
        step.optimizer == "adam" || step.optimizer == "adamw" || step.optimizer == "rmsprop" || step.optimizer == "adagrad";
    if (options.update == EagerUpdate::Loop) {
      for (const graph::Graph::Weight& weight : graph.weights) {
        // the gradient with its decay; the root and what divides it by a number
        const auto number = static_cast<std::size_t>(decays) + (roots ? 2 : 0);
        temporaries(std::vector<std::uint64_t>(number, bytes(weight.value)));
      }
      return;
    }
    std::vector<std::uint64_t> sizes;
    for (int list = 0; list < static_cast<int>(decays) + static_cast<int>(roots); ++list) {
      for (const graph::Graph::Weight& weight : graph.weights) sizes.push_back(bytes(weight.value));
    }
    temporaries(sizes);
  }

  void temporaries(const std::vector<std::uint64_t>& sizes) {
    std::vector<std::uint32_t> all;
    for (const std::uint64_t size : sizes) all.push_back(allocate(size, EagerKind::Temporaries));
    for (const std::uint32_t id : all) release(id);
  }

  const graph::Graph& graph;
  const sema::Values& values;
  const EagerOptions& options;
  EagerStep& step;
  const EagerOperators& operators;
  const std::vector<EagerSizes>& sizes;                  ///< by operator
  std::vector<std::uint64_t> bytesOf;                    ///< by graph tensor
  std::vector<std::uint32_t> memory;                     ///< by graph tensor: where it is now
  std::vector<std::uint32_t> gradients;                  ///< by graph tensor: what has arrived of its gradient
  std::vector<std::uint32_t> holders;                    ///< by tensor of the step
  std::vector<bool> differentiable;                      ///< by graph tensor: leads back to a weight
  std::vector<std::uint32_t> kept;                       ///< tensors of the step that operators keep, operator after operator
  std::vector<std::size_t> keptFrom;                     ///< by operator: its first place in these
  std::vector<OperatorWorkspaces> workspaces;            ///< by operator
  std::vector<TensorId> weights;                         ///< in order of their numbers
  std::vector<std::size_t> readers;                      ///< by graph tensor: operators of the forward pass that will read it
  std::vector<std::int64_t> dims;                        ///< of the tensor that is looked at
  std::vector<std::uint32_t> arrived;                    ///< gradients of the operator's results
  std::vector<std::pair<TensorId, std::uint32_t>> made;  ///< gradients of its operands
  KeptWorkspaces keptForward, keptBackward;              ///< by the thread of each pass
  std::uint32_t current = kNoEagerOp;
};

std::string optimizerOf(const graph::Graph& graph) {
  for (const graph::Op& op : graph.ops) {
    if (op.phase != graph::Phase::Optimizer) continue;
    for (const TensorId output : op.outputs) {
      const bool updates = std::ranges::any_of(graph.weights, [output](const auto& weight) { return weight.after == output; });
      if (updates) return op.declaration;
    }
  }
  return "";
}

}  // namespace

tl::expected<EagerStep, NoValue> eagerStep(EagerReader& reader, const sema::Values& values, const EagerOptions& options) {
  if (auto fault = reader.read(values)) return tl::unexpected(*std::move(fault));
  EagerStep step;
  step.operators = reader.operators();
  step.optimizer = optimizerOf(reader.graph());
  Engine(reader, values, options, step).run();
  return step;
}

}  // namespace tbem::estimate
