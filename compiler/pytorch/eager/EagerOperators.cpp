#include "compiler/pytorch/eager/EagerOperators.h"

#include "compiler/count/Dims.h"
#include "compiler/count/Layout.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/pytorch/eager/EagerLayouts.h"
#include "compiler/pytorch/eager/EagerRules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>

namespace tbem::estimate {

using graph::index;
using graph::TensorId;

namespace {

/// The outermost block or operator around it that has a rule.
const graph::Scope* wholeOf(const graph::Graph& graph, const graph::Op& op) {
  const graph::Scope* found = nullptr;
  for (std::uint32_t at = index(op.scope); at != 0; at = index(graph.scopes[at].parent)) {
    if (eagerRule(graph.scopes[at].declaration) != nullptr) found = &graph.scopes[at];
  }
  return found;
}

/// One operator of eager PyTorch, as the graph has it.
struct Group {
  const graph::Scope* whole = nullptr;  ///< null: a single operator
  std::vector<const graph::Op*> ops;
  graph::OpId first = graph::kNoOp;
};

}  // namespace

/// One class: an operator of eager PyTorch is read off tables that are made once for a graph.
/// Groups, what they read and keep are of the graph; `dims`, `layouts`, `bytes` and `sizes` are of the row that is read.
struct EagerReader::Impl {
  Impl(const graph::Graph& graph, EagerDevice device)
      : graph(graph),
        device(device),
        dims(graph.tensors.size()),
        layouts(graph, device, dims),
        bytes(graph.tensors.size(), kNotRead) {
    group();
    findReaders();
    EagerOperators all;
    for (const Group& each : groups) all.push_back(made(each));
    operators = std::make_shared<const EagerOperators>(std::move(all));
    sizes.resize(groups.size());
    findTensors();
  }

  std::optional<NoValue> read(const sema::Values& values) {
    if (gate) return gate;
    for (const TensorId tensor : tensors) {
      if (auto fault = readDims(graph, values, tensor, dims[index(tensor)])) return fault;
      bytes[index(tensor)] = static_cast<std::uint64_t>(count(tensor)) * elementBytes(graph[tensor].dtype);
    }
    layouts.clear();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const EagerOperator& op = (*operators)[g];
      layouts.follow(op, *groups[g].ops.front(), aroundOf(groups[g]), values, sizes[g]);
      sizes[g].extras.clear();
      if (graph.training && !op.results.empty()) addExtras(groups[g], rules[g].extra, op, sizes[g].extras);
    }
    return std::nullopt;
  }

  void group() {
    for (const graph::OpId id : graph::programOrder(graph)) {
      const graph::Op& op = graph[id];
      if (op.phase != graph::Phase::Forward) continue;
      const graph::Scope* whole = wholeOf(graph, op);
      if (whole == nullptr || groups.empty() || groups.back().whole != whole) groups.push_back({whole, {}, id});
      groups.back().ops.push_back(&op);
    }
  }

  void findReaders() {
    outside.assign(graph.tensors.size(), false);
    std::vector<std::size_t> maker(graph.tensors.size(), SIZE_MAX);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const graph::Op* op : groups[g].ops) {
        for (const TensorId out : op->outputs) maker[index(out)] = g;
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const graph::Op* op : groups[g].ops) {
        for (const TensorId in : op->inputs) {
          if (in != graph::kNoTensor && maker[index(in)] != g) outside[index(in)] = true;
        }
      }
    }
    for (const TensorId out : graph.outputs) outside[index(out)] = true;
    if (graph.loss != graph::kNoTensor) outside[index(graph.loss)] = true;
    for (const graph::Op& op : graph.ops) {
      if (op.phase != graph::Phase::Backward || op.forward == graph::kNoOp) continue;
      for (const TensorId in : op.inputs) {
        if (in != graph::kNoTensor) readBackward[op.forward].push_back(in);
      }
    }
  }

  void findTensors() {
    if (const graph::Op* first = graph::firstGate(graph)) gate = NoValue{"eager PyTorch has no gates", first->range};
    std::vector<bool> listed(graph.tensors.size(), false);
    for (const Group& each : groups) {
      for (const graph::Op* op : each.ops) {
        for (const auto* list : {&op->inputs, &op->outputs}) {
          for (const TensorId tensor : *list) {
            if (tensor == graph::kNoTensor || listed[index(tensor)]) continue;
            listed[index(tensor)] = true;
            tensors.push_back(tensor);
          }
        }
      }
    }
  }

  std::int64_t count(TensorId tensor) const { return elementsOf(dims[index(tensor)]); }
  graph::StorageClass classOf(TensorId tensor) const { return graph[graph[tensor].storage].kind; }

  EagerOperator made(const Group& each) {
    EagerOperator result;
    result.name = each.whole != nullptr ? each.whole->declaration : each.ops.front()->declaration;
    result.op = each.first;
    for (const graph::Op* op : each.ops) {
      for (const TensorId in : op->inputs) {
        if (in == graph::kNoTensor || isOneOf(each, in)) continue;
        const graph::StorageClass kind = classOf(in);
        if (graph[graph[in].storage].carried) continue;
        auto& list = kind == graph::StorageClass::Weight   ? result.weights
                     : kind == graph::StorageClass::Buffer ? result.buffers
                                                           : result.operands;
        if (std::find(list.begin(), list.end(), in) == list.end()) list.push_back(in);
      }
      for (const TensorId out : op->outputs) {
        if (outside[index(out)] && classOf(out) != graph::StorageClass::Buffer) result.results.push_back(out);
      }
    }
    findWeight(result);
    findMask(each, result);
    apply(each, result);
    return result;
  }

  /// The scores' second addend.
  static void findMask(const Group& each, EagerOperator& op) {
    if (op.name != "masked_attention") return;
    const auto isSum = [](const graph::Op* member) { return member->declaration == "add"; };
    const auto sum = std::ranges::find_if(each.ops, isSum);
    if (sum != each.ops.end() && (*sum)->inputs.size() > 1) op.mask = (*sum)->inputs[1];
  }

  static void findWeight(EagerOperator& op) {
    if (op.name != "dense" && !op.name.starts_with("conv")) return;
    const bool cast = op.operands.size() > 1;
    const auto at = [](const std::vector<TensorId>& list, std::size_t i) { return i < list.size() ? list[i] : graph::kNoTensor; };
    op.weight = cast ? op.operands[1] : at(op.weights, 0);
    op.bias = at(op.weights, cast ? 0 : 1);
  }

  static bool isOneOf(const Group& each, TensorId tensor) {
    return std::any_of(each.ops.begin(), each.ops.end(), [tensor](const graph::Op* op) {
      return std::find(op->outputs.begin(), op->outputs.end(), tensor) != op->outputs.end();
    });
  }

  void apply(const Group& each, EagerOperator& result) {
    constexpr EagerRule kDeclared{"", EagerKeep::Declared};
    const EagerRule* found = eagerRule(result.name);
    const bool shares = found == nullptr && each.ops.front()->kind == graph::OpKind::View;
    const EagerRule& rule = shares ? *eagerRule("reshape") : found != nullptr ? *found : kDeclared;
    rules.push_back(rule);
    result.result = rule.result;
    result.gradient = rule.gradient;
    result.inPlace = rule.inPlace;
    const bool madeFirst =
        rule.extra == EagerExtra::Mask || rule.extra == EagerExtra::SampleMask || rule.extra == EagerExtra::LogSoftmax;
    result.extrasFirst = madeFirst ? 1 : 0;
    if (graph.training) keep(each, rule.keep, result);
  }

  void keep(const Group& each, EagerKeep what, EagerOperator& result) const {
    const auto add = [&result](const std::vector<TensorId>& list) {
      for (const TensorId tensor : list) {
        if (std::find(result.kept.begin(), result.kept.end(), tensor) == result.kept.end()) result.kept.push_back(tensor);
      }
    };
    if (what == EagerKeep::First && !result.operands.empty()) result.kept = {result.operands.front()};
    result.keepsFactors = what == EagerKeep::Factors;
    if (what == EagerKeep::Operands || what == EagerKeep::Factors || what == EagerKeep::Both) add(result.operands);
    if (what == EagerKeep::Results || what == EagerKeep::Both) add(result.results);
    if (what == EagerKeep::Both && result.mask != graph::kNoTensor) add({result.mask});  // a weight perhaps
    if (what != EagerKeep::Declared) return;
    for (const graph::Op* op : each.ops) {
      const auto read = readBackward.find(static_cast<graph::OpId>(op - graph.ops.data()));
      if (read == readBackward.end()) continue;
      std::vector<TensorId> own;
      for (const TensorId tensor : read->second) {
        const auto among = [tensor](const std::vector<TensorId>& list) {
          return std::find(list.begin(), list.end(), tensor) != list.end();
        };
        if (among(result.operands) || among(result.results)) own.push_back(tensor);
      }
      add(own);
    }
  }

  /// What declares the block around the operator.
  std::string_view aroundOf(const Group& each) const {
    return each.whole != nullptr ? std::string_view(graph.scopes[index(each.whole->parent)].declaration) : std::string_view();
  }

  void addExtras(const Group& each, EagerExtra what, const EagerOperator& op, std::vector<std::uint64_t>& extras) const {
    const TensorId y = op.results.front();
    const auto elements = static_cast<std::uint64_t>(count(y));
    const std::vector<std::int64_t>& shape = dims[index(y)];
    const auto over = [elements](std::int64_t length) { return length == 0 ? 0 : elements / static_cast<std::uint64_t>(length); };
    switch (what) {
      case EagerExtra::Nothing:
        break;
      case EagerExtra::Moments:
        extras.assign(2, momentBytes(op) * normalisedGroups(each));
        break;
      case EagerExtra::Indices:
        extras = {8 * elements};
        break;
      case EagerExtra::Mask:
        extras = {device == EagerDevice::Cuda ? elements : bytes[index(y)]};
        break;
      case EagerExtra::SampleMask:
        extras = {static_cast<std::uint64_t>(shape[0]) * elementBytes(graph[y].dtype)};
        break;
      case EagerExtra::LogSums:
        if (device == EagerDevice::Cpu)
          extras = {4 * (shape.empty() ? 1 : over(shape.back()))};
        else
          extras = {4 * paddedRows(y), 8, 8};  // seed and offset
        break;
      case EagerExtra::LogSoftmax:
        extras = {bytes[index(op.operands.front())], 4};
        break;
    }
  }

  /// Rows of attention's result; the kernel for f32 pads those of each head to whole warps.
  std::uint64_t paddedRows(TensorId y) const {
    constexpr std::int64_t kWarp = 32;
    const std::vector<std::int64_t>& shape = dims[index(y)];
    if (shape.size() < 2) return 1;
    std::int64_t rows = shape[shape.size() - 2];
    if (graph[y].dtype == TBEM_F32) rows = (rows + kWarp - 1) / kWarp * kWarp;
    return static_cast<std::uint64_t>(std::accumulate(shape.begin(), shape.end() - 2, rows, std::multiplies<>()));
  }

  std::uint64_t momentBytes(const EagerOperator& op) const {
    return device == EagerDevice::Cuda || op.operands.empty() ? 4 : elementBytes(graph[op.operands.front()].dtype);
  }

  std::uint64_t normalisedGroups(const Group& each) const {
    for (const graph::Op* op : each.ops) {
      if (op->primitive == TBEM_PRIMITIVE_channel_moments) return static_cast<std::uint64_t>(count(op->outputs.front()));
    }
    return 0;
  }

  const graph::Graph& graph;
  EagerDevice device;
  std::vector<Group> groups;
  std::shared_ptr<const EagerOperators> operators;  ///< by group
  std::vector<EagerRule> rules;                     ///< by group
  std::vector<TensorId> tensors;                    ///< that operators read or make, once each
  std::optional<NoValue> gate;                      ///< the first
  std::vector<bool> outside;                        ///< by tensor: read outside its own group, or returned
  std::map<graph::OpId, std::vector<TensorId>> readBackward;
  std::vector<std::vector<std::int64_t>> dims;  ///< by tensor
  EagerLayouts layouts;
  std::vector<std::uint64_t> bytes;  ///< by tensor
  std::vector<EagerSizes> sizes;     ///< by group
};

EagerReader::EagerReader(const graph::Graph& graph, EagerDevice device) : impl(std::make_unique<Impl>(graph, device)) {}
EagerReader::~EagerReader() = default;
EagerReader::EagerReader(EagerReader&&) noexcept = default;

std::shared_ptr<const EagerOperators> EagerReader::operators() const { return impl->operators; }
const graph::Graph& EagerReader::graph() const { return impl->graph; }

std::optional<NoValue> EagerReader::read(const sema::Values& values) { return impl->read(values); }
const std::vector<EagerSizes>& EagerReader::sizes() const { return impl->sizes; }
const std::vector<std::uint64_t>& EagerReader::bytes() const { return impl->bytes; }

}  // namespace tbem::estimate
