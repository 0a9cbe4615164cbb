#include "compiler/graph/ir/GraphBuilder.h"

#include <utility>

namespace tbem::graph {

namespace {
constexpr std::size_t kMaxOperators = 200'000;
}  // namespace

GraphBuilder::GraphBuilder(Graph& graph, sema::ExprPool& pool, std::function<void(const Op&)> overflow)
    : graph(graph), pool(pool), overflow(std::move(overflow)) {}

bool GraphBuilder::isFull() const { return graph.ops.size() > kMaxOperators; }

bool GraphBuilder::hasRoomFor(std::size_t operators) const { return graph.ops.size() + operators <= kMaxOperators; }

TensorId GraphBuilder::addTensor(std::string name, tbem_dtype dtype, std::vector<ExprId> shape, SrcRange range) {
  graph.storages.emplace_back();
  graph.storages.back().range = range;
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.storage = static_cast<StorageId>(graph.storages.size() - 1);
  tensor.range = range;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

TensorId GraphBuilder::addInput(const std::string& name, tbem_dtype dtype, std::vector<ExprId> shape, SrcRange range) {
  const TensorId id = addTensor(name, dtype, std::move(shape), range);
  Storage& storage = graph[graph[id].storage];
  storage.kind = StorageClass::Input;
  storage.path = name;
  graph.inputs.push_back(id);
  return id;
}

OpId GraphBuilder::addOp(Op op) {
  const auto id = static_cast<OpId>(graph.ops.size());
  op.phase = stamp.phase;
  op.forward = stamp.forward;
  op.region = stamp.region;
  for (const TensorId result : op.outputs) graph[result].producer = id;
  graph[stamp.region].ops.push_back(id);
  graph.ops.push_back(std::move(op));
  if (graph.ops.size() == kMaxOperators + 1) overflow(graph.ops.back());
  return id;
}

ElemOperand GraphBuilder::elementOf(TensorId tensor) const {
  ElemOperand operand;
  for (std::size_t k = 0; k < graph[tensor].shape.size(); ++k) operand.axes.push_back(static_cast<std::int32_t>(k));
  return operand;
}

TensorId GraphBuilder::fill(const std::string& name, tbem_dtype dtype, const std::vector<ExprId>& shape, Rational value,
                            SrcRange range) {
  const TensorId id = addTensor(name, dtype, shape, range);
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "fill";
  op.outputs = {id};
  op.range = range;
  op.elementwise.nodes.push_back({.op = ElemOp::Constant, .value = value});
  op.elementwise.roots.push_back(0);
  addOp(std::move(op));
  return id;
}

TensorId GraphBuilder::copy(TensorId tensor, SrcRange range, ScopeId scope) {
  const TensorId result = addTensor(graph[tensor].name, graph[tensor].dtype, graph[tensor].shape, range);
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "copy";
  op.inputs = {tensor};
  op.outputs = {result};
  op.range = range;
  op.elementwise.nodes.push_back({.op = ElemOp::Input});
  op.elementwise.roots.push_back(0);
  op.elementwise.operands.push_back(elementOf(tensor));
  op.scope = scope;
  addOp(std::move(op));
  return result;
}

TensorId GraphBuilder::add(TensorId left, TensorId right, TensorId model) {
  const TensorId sum = addTensor("d" + graph[model].name, graph[model].dtype, graph[model].shape, graph[model].range);
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "add";
  op.inputs = {left, right};
  op.outputs = {sum};
  const OpId producer = graph[model].producer;
  op.range = producer != kNoOp ? graph[producer].range : graph[model].range;
  if (stamp.forward != kNoOp) op.scope = graph[stamp.forward].scope;
  for (std::uint32_t i = 0; i < 2; ++i) {
    op.elementwise.nodes.push_back({.op = ElemOp::Input, .input = i});
    op.elementwise.operands.push_back(elementOf(model));
  }
  op.elementwise.nodes.push_back({.op = ElemOp::Add, .a = 0, .b = 1});
  op.elementwise.roots.push_back(2);
  op.flops.push_back({"add", elementCount(graph[model].shape)});
  addOp(std::move(op));
  return sum;
}

TensorId GraphBuilder::addUp(TensorId part, std::int64_t parts) {
  const Storage model = graph[graph[part].storage];
  const TensorId before = addTensor(graph[part].name, graph[part].dtype, graph[part].shape, graph[part].range);
  graph[graph[before].storage] = model;
  graph[graph[before].storage].carried = true;
  const TensorId after = addTensor(graph[part].name, graph[part].dtype, graph[part].shape, graph[part].range);
  graph[after].storage = graph[before].storage;
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "accumulate";
  op.inputs = {before, part};
  op.outputs = {after};
  op.range = graph[part].producer != kNoOp ? graph[graph[part].producer].range : graph[part].range;
  for (std::uint32_t i = 0; i < 2; ++i) {
    op.elementwise.nodes.push_back({.op = ElemOp::Input, .input = i});
    op.elementwise.operands.push_back(elementOf(part));
  }
  std::uint32_t term = 1;
  if (parts != 1) {
    op.elementwise.nodes.push_back({.op = ElemOp::Constant, .value = Rational::of(parts)});
    op.elementwise.nodes.push_back({.op = ElemOp::Div, .a = 1, .b = 2});
    op.flops.push_back({"divide", elementCount(graph[part].shape)});
    term = 3;
  }
  op.elementwise.nodes.push_back({.op = ElemOp::Add, .a = 0, .b = term});
  op.elementwise.roots = {term + 1};
  op.flops.push_back({"add", elementCount(graph[part].shape)});
  addOp(std::move(op));
  return after;
}

void GraphBuilder::registerScalar(const std::string& name, ExprId value) {
  for (const RuntimeScalar& known : graph.scalars) {
    if (known.value == value) return;
  }
  graph.scalars.push_back({name, value});
}

ExprId GraphBuilder::elementCount(const std::vector<ExprId>& shape) {
  ExprId count = pool.constant(1);
  for (const ExprId dim : shape) count = pool.make(sema::ExprOp::Mul, count, dim);
  return count;
}

void GraphBuilder::dropUnusedStorages() {
  std::vector<bool> used(graph.storages.size(), false);
  for (const Tensor& tensor : graph.tensors) used[index(tensor.storage)] = true;
  std::vector<std::uint32_t> place(graph.storages.size(), 0);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    place[i] = next;
    if (!used[i]) continue;
    if (next != i) graph.storages[next] = std::move(graph.storages[i]);
    ++next;
  }
  graph.storages.resize(next);
  for (Tensor& tensor : graph.tensors) tensor.storage = static_cast<StorageId>(place[index(tensor.storage)]);
}

}  // namespace tbem::graph
