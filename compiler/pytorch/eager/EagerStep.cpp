#include "compiler/pytorch/eager/EagerStep.h"

#include "compiler/count/Dims.h"
#include "compiler/count/Layout.h"
#include "compiler/pytorch/eager/EagerOptimizer.h"
#include "compiler/pytorch/eager/EagerTape.h"
#include "compiler/pytorch/eager/OperatorWorkspaces.h"

#include <algorithm>
#include <numeric>
#include <optional>
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

namespace {

/// Runs the operators as autograd does and writes down what happens to memory. A tensor lives while something holds it. One
/// class: both passes take and drop the same holds.
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
        memory(graph.tensors.size(), kNoEagerTensor),
        gradients(graph.tensors.size(), kNoEagerTensor),
        tape(step, 2 * graph.tensors.size()) {  // about what two steps come to
    for (const graph::Graph::Weight& weight : graph.weights) leaves.push_back(weight.value);
    for (const graph::Graph::Wanted& wanted : graph.wanted) {
      if (wanted.gradient != graph::kNoTensor) leaves.push_back(wanted.value);
    }
    std::ranges::sort(leaves);
    differentiable.assign(graph.tensors.size(), false);
    for (const TensorId leaf : leaves) differentiable[index(leaf)] = true;
    findFirstReaders();
    for (const EagerOperator& op : operators) {
      workspaces.push_back(workspacesOf(op, graph, values, options));
      if (op.name.starts_with("conv") && op.name != "conv2d") ++step.notAsked;
    }
  }

  void run() {
    tape.mark("model", 0);
    makePersistent();
    EagerOptimizer optimizer;
    if (graph.training) optimizer = eagerOptimizer(graph, [this](TensorId tensor) { return bytes(tensor); });
    step.optimizer = optimizer.name;
    const int steps = graph.training ? 2 : 1;
    for (int number = 1; number <= steps; ++number) {
      if (graph.training) dropGradients();
      for (std::int64_t part = 0; part < graph.microBatches; ++part) {
        tape.mark("forward", number);
        forward();
        if (!graph.training) break;
        tape.mark("backward", number);
        backward();
      }
      if (!graph.training) continue;
      tape.mark("optimizer", number);
      if (optimizer.clipsNorm) clipNorm(optimizer, options.device, tape);
      update(optimizer, options, number == 1, tape);
    }
  }

private:
  // ---- workspaces ----
  bool keepsWorkspaces(const EagerOperator& op) const { return options.products.kept && isProduct(op); }
  static TensorId biasOf(const EagerOperator& op) { return op.weights.size() < 2 ? graph::kNoTensor : op.weights[1]; }

  /// What a thread's first product takes, where it is never given back.
  struct KeptWorkspaces {
    bool product = false, withBias = false;
  };
  void keepProductWorkspaces(KeptWorkspaces& kept, bool epilogue) {
    if (!std::exchange(kept.product, true)) tape.allocate(options.products.product, EagerKind::Cublas);
    if (epilogue && options.products.withBiasKept && !std::exchange(kept.withBias, true))
      tape.allocate(options.products.withBias, EagerKind::Cublas);
  }

  static EagerKind workspaceKind(const EagerOperator& op) { return op.name == "conv2d" ? EagerKind::Cudnn : EagerKind::Cublas; }

  // ---- memory ----
  std::uint64_t bytes(TensorId tensor) {
    std::uint64_t& known = bytesOf[index(tensor)];
    if (known != EagerReader::kNotRead) return known;
    known = 0;
    if (readDims(graph, values, tensor, dims)) return known;  // no operator touches it: those were read before
    const std::int64_t count = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    return known = static_cast<std::uint64_t>(count) * elementBytes(graph[tensor].dtype);
  }
  EagerId& at(TensorId tensor) { return memory[index(tensor)]; }

  // ---- before the first step ----
  void makePersistent() {
    for (const graph::Graph::Weight& weight : graph.weights)
      at(weight.value) = tape.allocate(bytes(weight.value), EagerKind::Weights);
    for (const TensorId buffer : graph.buffers) at(buffer) = tape.allocate(bytes(buffer), EagerKind::Buffers);
    for (const EagerOperator& op : operators) {
      if (op.name == "batch_norm") tape.allocate(8, EagerKind::Buffers);  // num_batches_tracked
    }
    for (const TensorId input : graph.inputs) at(input) = tape.allocate(bytes(input), EagerKind::Input);
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
    for (std::uint32_t i = 0; i < operators.size(); ++i) {
      setOperator(i);
      const EagerOperator& op = operators[current];
      makeResults(op);
      // cuBLASLt's is there when its handle is asked for, which is cuBLAS's own and brings the workspace that stays.
      const EagerId workspace = takeWorkspace(workspaces[current].forward);
      if (keepsWorkspaces(op)) keepProductWorkspaces(keptForward, hasEpilogue(op, graph, values));
      tape.release(workspace);
      keptFrom.push_back(kept.size());
      for (const TensorId tensor : op.kept) kept.push_back(tape.hold(at(tensor)));
      for (const std::uint64_t extra : sizes[current].extras) kept.push_back(tape.allocate(extra, EagerKind::Activations));
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
    setOperator(kNoEagerOp);
    if (graph.training) return;
    for (const TensorId output : graph.outputs) drop(output);
  }

  EagerId takeWorkspace(const EagerWorkspace& size) {
    return size.bytes != 0 || size.most != 0 ? tape.allocate(size, workspaceKind(operators[current])) : kNoEagerTensor;
  }
  void setOperator(std::uint32_t op) { tape.setOperator(current = op); }
  void useWorkspace(const EagerWorkspace& size) { tape.release(takeWorkspace(size)); }

  void makeResults(const EagerOperator& op) {
    const bool shares = op.result == EagerResult::View || op.result == EagerResult::Slice ||
                        (op.result == EagerResult::Reshape && !sizes[current].copies);
    for (const TensorId result : op.results) {
      if (op.result == EagerResult::Expand || (shares && op.operands.empty())) {
        at(result) = kNoEagerTensor;
      } else {
        at(result) = shares ? tape.hold(at(op.operands.front())) : tape.allocate(bytes(result), EagerKind::Activations);
      }
    }
  }

  bool isInput(TensorId tensor) const { return graph[graph[tensor].storage].kind == graph::StorageClass::Input; }
  void drop(TensorId tensor) {
    tape.release(at(tensor));
    at(tensor) = kNoEagerTensor;
  }

  // ---- backward ----
  void backward() {
    const EagerId ones = tape.allocate(bytes(graph.loss), EagerKind::ActivationGradients);
    gradients[index(graph.loss)] = tape.hold(ones);  // torch.autograd.backward holds what it starts from until it returns
    for (std::size_t i = operators.size(); i-- > 0;) {
      setOperator(static_cast<std::uint32_t>(i));
      differentiate(operators[i]);
    }
    setOperator(kNoEagerOp);
    tape.release(ones);
    drop(graph.loss);  // backward() is called on it
  }

  void differentiate(const EagerOperator& op) {
    arrived.clear();
    for (const TensorId result : op.results) {
      if (gradients[index(result)] != kNoEagerTensor) arrived.push_back(std::exchange(gradients[index(result)], kNoEagerTensor));
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
      for (const EagerId gradient : arrived) tape.release(gradient);
      if (op.gradient == EagerGradient::Product) castProducts(op);
      releaseKept();
      for (const auto& [tensor, gradient] : made) give(tensor, gradient);
      for (const auto& [tensor, gradient] : made) {
        if (firstReader[index(tensor)] == current) own(tensor);
      }
    } else {
      releaseKept();
    }
  }

  /// Products have the type of the result; autograd gives each operand its own.
  void castProducts(const EagerOperator& op) {
    const std::size_t wide = elementBytes(graph[op.results.front()].dtype);
    for (auto& [tensor, gradient] : made) {
      if (elementBytes(graph[tensor].dtype) >= wide) continue;
      const EagerId cast = tape.allocate(bytes(tensor), EagerKind::ActivationGradients);
      tape.release(std::exchange(gradient, cast));
    }
  }

  /// Of a bias's gradient: the result's, summed over all but the last dimension.
  void useSumBuffers(const EagerOperator& op, TensorId bias) {
    const std::uint64_t element = elementBytes(graph[bias].dtype);
    const std::uint64_t row = bytes(bias), whole = bytes(op.results.front());
    if (row == 0) return;
    const SumBuffers buffers = sumBuffers(whole / row, row / element, std::max<std::uint64_t>(4, element), options.sums);
    if (buffers.partial == 0) return;
    const EagerId partial = tape.allocate(buffers.partial, EagerKind::Temporaries);
    tape.release(tape.allocate(buffers.counters, EagerKind::Temporaries));
    tape.release(partial);
  }

  /// Of the last operator that still keeps anything.
  void releaseKept() {
    for (std::size_t i = keptFrom[current]; i < kept.size(); ++i) tape.release(kept[i]);
    kept.resize(keptFrom[current]);
  }

  EagerId gradientFor(const EagerOperator& op, TensorId tensor, EagerId arrived) {
    const EagerKind kind = kindOfGradient(tensor);
    const std::uint64_t size = bytes(tensor);
    const TensorId result = op.results.front();
    // A part of a concatenation lies in it; an operand that was repeated along an axis needs a sum.
    const bool lies = op.gradient == EagerGradient::Pass && (op.name == "concat" ? size <= bytes(result) : size == bytes(result));
    if (lies && !isWeight(tensor)) return tape.hold(arrived);
    if (op.gradient == EagerGradient::Loss) {
      const EagerId first = tape.allocate(size, kind);
      const EagerId second = tape.allocate(size, kind);
      tape.release(first);
      return second;
    }
    if (op.gradient == EagerGradient::Product) {
      const std::uint64_t element = elementBytes(graph[result].dtype);
      const std::uint64_t own = size / elementBytes(graph[tensor].dtype) * element;
      if (own == bytes(result)) return tape.allocate(own, kind);
      const EagerId product = tape.allocate(bytes(result), EagerKind::Temporaries);
      const EagerId sum = tape.allocate(own, kind);
      tape.release(product);
      return sum;
    }
    return tape.allocate(size, kind);
  }

  EagerKind kindOfGradient(TensorId tensor) const {
    return isWeight(tensor) || isInput(tensor) ? EagerKind::Gradients : EagerKind::ActivationGradients;
  }
  bool isWeight(TensorId tensor) const { return graph[graph[tensor].storage].kind == graph::StorageClass::Weight; }

  void give(TensorId tensor, EagerId gradient) {
    if (isWeight(tensor)) {
      EagerId& there = gradients[index(tensor)];
      if (there == kNoEagerTensor)
        there = gradient;
      else
        tape.release(gradient);  // added into the one that is there
      return;
    }
    EagerId& there = gradients[index(tensor)];
    if (there == kNoEagerTensor) {
      there = gradient;
      return;
    }
    const EagerId sum = tape.allocate(bytes(tensor), kindOfGradient(tensor));
    tape.release(there);
    tape.release(gradient);
    there = sum;
  }

  /// Of an input whose gradient is wanted, by the operator behind which it is complete.
  void findFirstReaders() {
    firstReader.assign(graph.tensors.size(), kNoEagerOp);
    for (auto op = static_cast<std::uint32_t>(operators.size()); op-- > 0;) {
      for (const TensorId operand : operators[op].operands) {
        if (differentiable[index(operand)]) firstReader[index(operand)] = op;
      }
    }
  }

  /// AccumulateGrad keeps a gradient as it arrives, or copies one that others hold, too.
  void own(TensorId input) {
    EagerId& there = gradients[index(input)];
    if (!tape.isShared(there)) return;
    const EagerId copy = tape.allocate(bytes(input), EagerKind::Gradients);
    tape.release(std::exchange(there, copy));
  }

  void dropGradients() {
    for (const TensorId leaf : leaves) tape.release(std::exchange(gradients[index(leaf)], kNoEagerTensor));
  }

  const graph::Graph& graph;
  const sema::Values& values;
  const EagerOptions& options;
  EagerStep& step;
  const EagerOperators& operators;
  const std::vector<EagerSizes>& sizes;            ///< by operator
  std::vector<std::uint64_t> bytesOf;              ///< by graph tensor
  std::vector<EagerId> memory;                     ///< by graph tensor: where it is now
  std::vector<EagerId> gradients;                  ///< by graph tensor: what has arrived of its gradient
  std::vector<bool> differentiable;                ///< by graph tensor: leads back to one of the leaves
  std::vector<EagerId> kept;                       ///< tensors of the step that operators keep, operator after operator
  std::vector<std::size_t> keptFrom;               ///< by operator: its first place in these
  std::vector<OperatorWorkspaces> workspaces;      ///< by operator
  std::vector<TensorId> leaves;                    ///< weights, and inputs whose gradient is wanted, in order of their numbers
  std::vector<std::uint32_t> firstReader;          ///< by graph tensor: of those inputs, the first operator that reads it
  std::vector<std::size_t> readers;                ///< by graph tensor: operators of the forward pass that will read it
  std::vector<std::int64_t> dims;                  ///< of the tensor that is looked at
  std::vector<EagerId> arrived;                    ///< gradients of the operator's results
  std::vector<std::pair<TensorId, EagerId>> made;  ///< gradients of its operands
  EagerTape tape;
  KeptWorkspaces keptForward, keptBackward;  ///< by the thread of each pass
  std::uint32_t current = kNoEagerOp;
};

/// The event from which on sums of sizes, rounded to blocks and segments, are no longer sure to fit 64 bits. A tensor alone has
/// at most 2^54 bytes (readDims).
std::optional<std::size_t> leavesSums(const EagerStep& step) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  std::uint64_t live = 0;
  for (std::size_t e = 0; e < step.events.size(); ++e) {
    const EagerTensor& tensor = step.tensors[step.events[e].tensor];
    const std::uint64_t bytes = std::max(tensor.size.bytes, tensor.size.most);
    live += step.events[e].frees ? -bytes : bytes;
    if (live > kMost) return e;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<EagerStep, NoValue> eagerStep(EagerReader& reader, const sema::Values& values, const EagerOptions& options) {
  if (auto fault = reader.read(values)) return tl::unexpected(*std::move(fault));
  EagerStep step;
  step.operators = reader.operators();
  Engine(reader, values, options, step).run();
  if (const auto event = leavesSums(step)) {
    const std::uint32_t op = step.tensors[step.events[*event].tensor].op;
    const SrcRange range = op == kNoEagerOp ? SrcRange{} : reader.graph()[(*step.operators)[op].op].range;
    return tl::unexpected(NoValue{"the tensors that live at once leave 2^60 bytes", range});
  }
  return step;
}

}  // namespace tbem::estimate
