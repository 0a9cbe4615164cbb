#include "compiler/pytorch/eager/EagerStep.h"

#include "compiler/count/Dims.h"
#include "compiler/count/Layout.h"
#include "compiler/pytorch/eager/EagerModel.h"
#include "compiler/pytorch/eager/EagerOptimizer.h"
#include "compiler/pytorch/eager/EagerSaved.h"
#include "compiler/pytorch/eager/EagerTape.h"
#include "compiler/pytorch/eager/OperatorWorkspaces.h"
#include "compiler/pytorch/eager/Strides.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace tbem::estimate {

using graph::index;
using graph::TensorId;

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
    const auto addLeaf = [this](const auto& leaf) {
      if (leaf.gradient != graph::kNoTensor) leaves.push_back(leaf.value);
    };
    std::ranges::for_each(graph.weights, addLeaf);
    std::ranges::for_each(graph.wanted, addLeaf);
    std::ranges::sort(leaves);
    differentiable.assign(graph.tensors.size(), false);
    for (const TensorId leaf : leaves) differentiable[index(leaf)] = true;
    firstReader = firstReaders(operators, differentiable);
    for (const EagerOperator& op : operators) {
      workspaces.push_back(workspacesOf(op, graph, values, options));
      if (op.name.starts_with("conv") && op.name != "conv2d") ++step.notAsked;
    }
  }

  void run() {
    tape.mark("model", 0);
    makeModel(
        graph, operators, [this](TensorId tensor) { return bytes(tensor); }, tape, memory);
    EagerOptimizer optimizer;
    if (graph.training) optimizer = eagerOptimizer(graph, values, [this](TensorId tensor) { return bytes(tensor); });
    step.optimizer = optimizer.names();
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

  // ---- memory ----
  std::uint64_t bytes(TensorId tensor) {
    std::uint64_t& known = bytesOf[index(tensor)];
    if (known != EagerReader::kNotRead) return known;
    known = 0;
    if (readDims(graph, values, tensor, dims)) return known;  // no operator touches it: those were read before
    return known = static_cast<std::uint64_t>(elementsOf(dims)) * elementBytes(graph[tensor].dtype);
  }
  std::uint64_t elements(TensorId tensor) { return bytes(tensor) / elementBytes(graph[tensor].dtype); }
  EagerId& at(TensorId tensor) { return memory[index(tensor)]; }

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
      keptFrom.push_back(kept.size());
      const bool isRecorded = records(op, differentiable);
      const std::size_t first = std::min(op.extrasFirst, sizes[current].extras.size());
      keepExtras(0, first);
      if (narrowsBias(op)) castBiases.push_back(tape.allocate(narrowBytes(op), EagerKind::Activations));
      if (!writeOver(op, isRecorded)) {
        for (const auto& [tensor, bytes] : sizes[current].copied)
          copies.emplace_back(tensor, tape.allocate(bytes, EagerKind::Activations));
        makeResults(op);
        for (const TensorId tensor : op.kept) {
          if (saves(op, tensor, differentiable)) kept.push_back(tape.hold(copyOf(tensor)));
        }
      }
      // cuBLASLt's is there when its handle is asked for, which is cuBLAS's own and brings the workspace that stays.
      const EagerId workspace = takeWorkspace(workspaces[current].forward);
      if (keepsWorkspaces(op)) keepProductWorkspaces(options.products, keptForward, hasEpilogue(op, graph, values), tape);
      tape.release(workspace);
      for (const auto& [tensor, copy] : copies) tape.release(copy);
      copies.clear();
      keepExtras(first, sizes[current].extras.size());
      if (!isRecorded) releaseKept(keptFrom[current]);
      for (const TensorId operand : op.operands) {
        if (--readers[index(operand)] == 0 && !isInput(operand)) drop(operand);
      }
      for (const TensorId result : op.results) {
        differentiable[index(result)] = isRecorded;
        if (readers[index(result)] == 0) drop(result);
      }
    }
    setOperator(kNoEagerOp);
    for (const EagerId bias : castBiases) tape.release(bias);
    castBiases.clear();
    if (graph.training) return;
    for (const TensorId output : graph.outputs) drop(output);
  }

  /// Of an operand that the operator at work reads as a copy; else the tensor itself.
  EagerId copyOf(TensorId tensor) {
    const auto copy = std::ranges::find(copies, tensor, &std::pair<TensorId, EagerId>::first);
    return copy != copies.end() ? copy->second : at(tensor);
  }

  void keepExtras(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) kept.push_back(tape.allocate(sizes[current].extras[i], EagerKind::Activations));
  }

  /// Whether the result takes the place of an operand that nobody needs behind it.
  bool writeOver(const EagerOperator& op, bool isRecorded) {
    if (op.inPlace == EagerInPlace::Never || options.writes == EagerWrites::Anew) return false;
    const bool sum = op.inPlace == EagerInPlace::Sum;
    if (sum && options.writes != EagerWrites::All) return false;
    const TensorId result = op.results.front();
    const auto isFree = [&](TensorId operand) {
      const EagerId there = at(operand);
      const bool own = there != kNoEagerTensor && !tape.isShared(there) && !isInput(operand);
      return own && readers[index(operand)] == 1 && bytes(operand) == bytes(result);
    };
    const auto end = sum ? op.operands.end() : op.operands.begin() + 1;
    const auto over = std::find_if(op.operands.begin(), end, isFree);
    if (over == end) return false;
    if (!op.kept.empty() && isRecorded) {
      const bool copies = op.inPlace == EagerInPlace::Copy;
      kept.push_back(copies ? tape.allocate(bytes(*over), EagerKind::Activations) : tape.hold(at(*over)));
    }
    at(result) = tape.hold(at(*over));
    return true;
  }

  EagerId takeWorkspace(const EagerWorkspace& size) {
    if (size.bytes == 0 && size.most == 0) return kNoEagerTensor;
    return tape.allocate(size, operators[current].name == "conv2d" ? EagerKind::Cudnn : EagerKind::Cublas);
  }
  void setOperator(std::uint32_t op) { tape.setOperator(current = op); }
  void useWorkspace(const EagerWorkspace& size) { tape.release(takeWorkspace(size)); }

  void makeResults(const EagerOperator& op) {
    const bool shares = op.result != EagerResult::New && !sizes[current].copies;
    for (const TensorId result : op.results) {
      if (shares && op.operands.empty()) {
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
    turned.assign(graph.tensors.size(), false);
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

  void makeGradients(const EagerOperator& op) {
    made.clear();
    const auto make = [&](TensorId tensor) {
      if (!differentiable[index(tensor)]) return;
      made.emplace_back(tensor, gradientFor(op, tensor, arrived.front()));
      if (tensor == op.bias) {
        const std::uint64_t columns = elements(tensor), element = elementBytes(graph[tensor].dtype);
        if (op.name == "dense" && columns != 0)
          useSumBuffers(elements(op.results.front()) / columns, columns, element, options.sums, tape);
        return;
      }
      if (keepsWorkspaces(op)) keepProductWorkspaces(options.products, keptBackward, false, tape);
      const bool weight = tensor == op.weight || isWeight(tensor);
      useWorkspace(weight ? workspaces[current].weightGradient : workspaces[current].dataGradient);
    };
    const bool weightFirst = workspaces[current].weightFirst;
    if (weightFirst) make(op.weight);
    for (const auto* list : {&op.operands, &op.weights}) {
      for (const TensorId tensor : *list) {
        if (!weightFirst || tensor != op.weight) make(tensor);
      }
    }
  }

  /// Whether autocast narrows the bias, too. What it makes of weights is kept until it ends, behind the loss.
  bool narrowsBias(const EagerOperator& op) const {
    return op.bias != graph::kNoTensor && elementBytes(graph[op.results.front()].dtype) < elementBytes(graph[op.bias].dtype);
  }
  std::uint64_t narrowBytes(const EagerOperator& op) { return elements(op.bias) * elementBytes(graph[op.results.front()].dtype); }
  void castBias(const EagerOperator& op) {
    if (!narrowsBias(op)) return;
    for (auto& [tensor, gradient] : made) {
      if (tensor != op.bias) continue;
      const EagerId wide = tape.allocate(bytes(tensor), EagerKind::Gradients);
      tape.release(std::exchange(gradient, wide));
    }
  }

  /// A mask that heads or samples share has the sum of their gradients.
  void sumMask(const EagerOperator& op) {
    for (auto& [tensor, gradient] : made) {
      if (tensor != op.mask || bytes(tensor) == sizes[current].maskGradient) continue;
      const EagerId sum = tape.allocate(bytes(tensor), kindOfGradient(tensor));
      tape.release(std::exchange(gradient, sum));
    }
  }

  void differentiate(const EagerOperator& op) {
    arrived.clear();
    for (const TensorId result : op.results) {
      if (gradients[index(result)] != kNoEagerTensor) arrived.push_back(std::exchange(gradients[index(result)], kNoEagerTensor));
    }
    if (arrived.empty()) return releaseKept(keptFrom[current]);
    makeGradients(op);
    for (const EagerId gradient : arrived) tape.release(gradient);
    if (op.gradient == EagerGradient::Product) castProducts(op);
    releaseKept(keptFrom[current]);
    castBias(op);
    sumMask(op);
    for (const auto& [tensor, gradient] : made) give(tensor, gradient);
    for (const auto& [tensor, gradient] : made) {
      if (firstReader[index(tensor)] == current) own(tensor);
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

  /// Of the last operator that still keeps anything, from this place on.
  void releaseKept(std::size_t from) {
    for (std::size_t i = from; i < kept.size(); ++i) tape.release(kept[i]);
    kept.resize(std::min(kept.size(), from));
  }

  EagerId gradientFor(const EagerOperator& op, TensorId tensor, EagerId arrived) {
    const EagerKind kind = kindOfGradient(tensor);
    const std::uint64_t size = tensor == op.bias && narrowsBias(op) ? narrowBytes(op) : bytes(tensor);
    if (tensor == op.mask) return tape.allocate(sizes[current].maskGradient, EagerKind::Temporaries);
    const TensorId result = op.results.front();
    // A part of a concatenation lies in it; an operand that was repeated along an axis needs a sum.
    const bool lies = op.gradient == EagerGradient::Pass && (op.name == "concat" ? size <= bytes(result) : size == bytes(result));
    if (lies && !isWeight(tensor)) return tape.hold(arrived);
    if (op.gradient == EagerGradient::Loss) {
      const EagerId first = tape.allocate(size, kind);
      releaseKept(keptFrom[current] + 1);  // what the loss kept beside log_softmax's result
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
    EagerId& there = gradients[index(tensor)];
    // A weight's gradient by a product is a transposed view, of which autograd keeps the base: nothing is added into it.
    const bool isTurned = isWeight(tensor) && isProduct(operators[current]) && tensor != operators[current].bias;
    if (there == kNoEagerTensor) {
      there = gradient;
      turned[index(tensor)] = isTurned ? 1 : 0;
      return;
    }
    const bool isFree = isWeight(tensor) ? !std::exchange(turned[index(tensor)], std::uint8_t{0}) : !tape.isShared(there);
    if (isFree) {  // added into the one that is there
      tape.release(gradient);
      return;
    }
    const EagerId sum = tape.allocate(bytes(tensor), kindOfGradient(tensor));
    tape.release(there);
    tape.release(gradient);
    there = sum;
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
  const std::vector<EagerSizes>& sizes;              ///< by operator
  std::vector<std::uint64_t> bytesOf;                ///< by graph tensor
  std::vector<EagerId> memory;                       ///< by graph tensor: where it is now
  std::vector<EagerId> gradients;                    ///< by graph tensor: what has arrived of its gradient
  std::vector<std::uint8_t> turned;                  ///< by graph tensor: `gradients` has a view of a transposed one
  std::vector<bool> differentiable;                  ///< by graph tensor: leads back to one of the leaves
  std::vector<EagerId> kept;                         ///< tensors of the step that operators keep, operator after operator
  std::vector<std::size_t> keptFrom;                 ///< by operator: its first place in these
  std::vector<OperatorWorkspaces> workspaces;        ///< by operator
  std::vector<TensorId> leaves;                      ///< weights, and inputs whose gradient is wanted, in order of their numbers
  std::vector<std::uint32_t> firstReader;            ///< by graph tensor: of those that are differentiable from the start
  std::vector<std::size_t> readers;                  ///< by graph tensor: operators of the forward pass that will read it
  std::vector<std::int64_t> dims;                    ///< of the tensor that is looked at
  std::vector<EagerId> castBiases;                   ///< what autocast made of biases, until it ends
  std::vector<std::pair<TensorId, EagerId>> copies;  ///< of operands that a product reads as copies
  std::vector<EagerId> arrived;                      ///< gradients of the operator's results
  std::vector<std::pair<TensorId, EagerId>> made;    ///< gradients of its operands
  EagerTape tape;
  KeptWorkspaces keptForward, keptBackward;  ///< by the thread of each pass
  std::uint32_t current = kNoEagerOp;
};

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
