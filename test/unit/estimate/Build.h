// Graphs by hand, as the elaborator makes them: a tape of layers with their gradients and an SGD update with momentum.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tbem::test {

using graph::ElemNode;
using graph::ElemOp;
using graph::OpId;
using graph::OpKind;
using graph::Phase;
using graph::StorageClass;
using graph::TensorId;
using Shape = std::vector<std::int64_t>;

/// One element-wise expression under construction.
struct Expr {
  graph::Elementwise body;
  std::vector<TensorId> inputs;
  std::uint32_t in(TensorId tensor, std::vector<std::int32_t> axes) {
    inputs.push_back(tensor);
    body.operands.push_back({std::move(axes)});
    return add({.op = ElemOp::Input, .input = static_cast<std::uint32_t>(inputs.size() - 1)});
  }
  std::uint32_t number(std::int64_t value) { return add({.op = ElemOp::Constant, .value = Rational::of(value)}); }
  std::uint32_t scalar(graph::ExprId id) { return add({.op = ElemOp::Scalar, .scalar = id}); }
  std::uint32_t op(ElemOp kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    return add({.op = kind, .a = a, .b = b, .c = c});
  }
  std::uint32_t add(ElemNode node) {
    body.nodes.push_back(node);
    return static_cast<std::uint32_t>(body.nodes.size() - 1);
  }
};

class Net {
public:
  explicit Net(tbem_dtype type = TBEM_F64) : dtype(type) {
    g.network = "hand_made";
    g.regions.emplace_back();
    g.scopes.push_back({"", "hand_made", {}, {}});
    lr = scalar("optimizer.lr", *Rational::make(1, 10));
    momentum = scalar("optimizer.momentum", *Rational::make(9, 10));
    eps = pool.constant(*Rational::make(1, 100000));
  }

  graph::Graph g;
  sema::ExprPool pool;

  sema::Values values() const { return pool.evaluate(assignment); }

  TensorId input(const std::string& name, const Shape& shape, tbem_dtype type) {
    const TensorId t = tensor(name, shape, storage(StorageClass::Input, name), type);
    g.inputs.push_back(t);
    return t;
  }
  TensorId input(const std::string& name, const Shape& shape) { return input(name, shape, dtype); }
  TensorId weight(const std::string& path, const Shape& shape) {
    const TensorId t = tensor(path, shape, storage(StorageClass::Weight, path), dtype);
    g.weights.push_back({t, graph::kNoTensor, graph::kNoTensor});
    return t;
  }

  TensorId conv(TensorId x, std::int64_t out, std::int64_t k, std::int64_t stride = 1, std::int64_t pad = 0) {
    const Shape s = shape(x);
    const TensorId w = weight("conv" + std::to_string(++counter) + ".weight", {out, s[1], k, k});
    const std::int64_t oh = (s[2] + 2 * pad - k) / stride + 1;
    const std::int64_t ow = (s[3] + 2 * pad - k) / stride + 1;
    const Attributes attributes{
        {"stride", {stride, stride}}, {"pad", {pad, pad, pad, pad}}, {"dilation", {1, 1}}, {"groups", {1}}};
    const TensorId y = native(TBEM_PRIMITIVE_conv2d, "conv2d", {x, w, graph::kNoTensor}, {{s[0], out, oh, ow}}, attributes)[0];
    const OpId forward = g[y].producer;
    flops(forward, {{"mac", s[0] * out * oh * ow * s[1] * k * k}});
    tape.push_back([=, this] {
      const TensorId dy = gradients.at(y);
      const TensorId dw = native(TBEM_PRIMITIVE_conv2d_weight_gradient, "conv2d_weight_gradient", {x, dy}, {shape(w)}, attributes,
                                 forward, StorageClass::Gradient)[0];
      flops(g[dw].producer, {{"mac", s[0] * out * oh * ow * s[1] * k * k}});
      accumulate(w, dw);
      if (!isInput(x)) {
        const TensorId dx =
            native(TBEM_PRIMITIVE_conv2d_input_gradient, "conv2d_input_gradient", {dy, w}, {s}, attributes, forward)[0];
        flops(g[dx].producer, {{"mac", s[0] * out * oh * ow * s[1] * k * k}});
        accumulate(x, dx);
      }
    });
    return y;
  }

  /// Batch normalisation in training: batch statistics, running statistics updated.
  TensorId norm(TensorId x) {
    const Shape s = shape(x);
    const std::int64_t c = s[1];
    const std::string path = "norm" + std::to_string(++counter);
    const TensorId w = weight(path + ".weight", {c});
    const TensorId b = weight(path + ".bias", {c});
    const std::vector<TensorId> moments = native(TBEM_PRIMITIVE_channel_moments, "channel_moments", {x}, {{c}, {c}}, {});
    for (int i = 0; i < 2; ++i) running(path + (i == 0 ? ".mean" : ".variance"), moments[static_cast<std::size_t>(i)]);
    Expr e;
    const std::uint32_t centred = e.op(ElemOp::Sub, e.in(x, {0, 1, 2, 3}), e.in(moments[0], {1}));
    const std::uint32_t scale = e.op(ElemOp::Rsqrt, e.op(ElemOp::Add, e.in(moments[1], {1}), e.scalar(eps)));
    const std::uint32_t unit = e.op(ElemOp::Mul, centred, scale);
    e.body.roots = {e.op(ElemOp::Add, e.op(ElemOp::Mul, unit, e.in(w, {1})), e.in(b, {1}))};
    const TensorId y = elementwise("batch_normalize", e, {s})[0];
    const OpId forward = g[y].producer;
    tape.push_back([=, this] { normGradient(x, y, w, b, moments, forward); });
    return y;
  }

  TensorId relu(TensorId x) {
    Expr e;
    e.body.roots = {e.op(ElemOp::Maximum, e.in(x, axes(x)), e.number(0))};
    const TensorId y = elementwise("relu", e, {shape(x)})[0];
    const OpId forward = g[y].producer;
    tape.push_back([=, this] {
      Expr d;
      const std::uint32_t positive = d.op(ElemOp::Less, d.number(0), d.in(y, axes(y)));
      d.body.roots = {d.op(ElemOp::Select, positive, d.in(gradients.at(y), axes(y)), d.number(0))};
      accumulate(x, elementwise("relu", d, {shape(x)}, forward)[0]);
    });
    return y;
  }

  TensorId add(TensorId a, TensorId b) {
    const TensorId y = sum(a, b, Phase::Forward);
    tape.push_back([=, this] {
      accumulate(a, gradients.at(y));
      accumulate(b, gradients.at(y));
    });
    return y;
  }

  TensorId maxPool(TensorId x, std::int64_t k) {
    const Shape s = shape(x);
    const Attributes attributes{{"kernel", {k, k}}, {"stride", {k, k}}, {"pad", {0, 0, 0, 0}}};
    const TensorId y = native(TBEM_PRIMITIVE_max_pool2d, "max_pool2d", {x}, {{s[0], s[1], s[2] / k, s[3] / k}}, attributes)[0];
    const OpId forward = g[y].producer;
    tape.push_back([=, this] {
      accumulate(x, native(TBEM_PRIMITIVE_max_pool2d_gradient, "max_pool2d_gradient", {gradients.at(y), x}, {s}, attributes,
                           forward)[0]);
    });
    return y;
  }

  TensorId flatten(TensorId x) {
    const Shape s = shape(x);
    const TensorId y = view(x, {s[0], s[1] * s[2] * s[3]}, Phase::Forward);
    tape.push_back([=, this] { accumulate(x, view(gradients.at(y), s, Phase::Backward)); });
    return y;
  }

  TensorId dense(TensorId x, std::int64_t out) {
    const Shape s = shape(x);
    const std::string path = "dense" + std::to_string(++counter);
    const TensorId w = weight(path + ".weight", {out, s[1]});
    const TensorId b = weight(path + ".bias", {out});
    const TensorId y = native(TBEM_PRIMITIVE_dense, "dense", {x, w, b}, {{s[0], out}}, {})[0];
    const OpId forward = g[y].producer;
    flops(forward, {{"mac", s[0] * s[1] * out}, {"add", s[0] * out}});
    tape.push_back([=, this] {
      const TensorId dy = gradients.at(y);
      accumulate(w, native(TBEM_PRIMITIVE_dense_weight_gradient, "dense_weight_gradient", {x, dy}, {shape(w)}, {}, forward,
                           StorageClass::Gradient)[0]);
      accumulate(b, native(TBEM_PRIMITIVE_reduce_sum, "sum", {dy}, {{out}}, {{"axis", {0}}}, forward, StorageClass::Gradient)[0]);
      if (!isInput(x))
        accumulate(x, native(TBEM_PRIMITIVE_dense_input_gradient, "dense_input_gradient", {dy, w}, {s}, {}, forward)[0]);
    });
    return y;
  }

  /// A buffer that is read across its own elements: memory = transpose(memory) + x, for a square x.
  void transposedMemory(TensorId x) {
    const graph::StorageId where = storage(StorageClass::Buffer, "memory");
    const TensorId before = tensor("memory", shape(x), where, dtype);
    g.buffers.push_back(before);
    Expr e;
    e.body.roots = {e.op(ElemOp::Add, e.in(before, {1, 0}), e.in(x, {0, 1}))};
    elementwise("running", e, {shape(x)}, graph::kNoOp, {where});
  }

  void output(TensorId t) { g.outputs.push_back(t); }

  /// Cross entropy against a target, gradients of everything, one update a weight as soon as its gradient is complete.
  void train(TensorId logits) {
    const Shape s = shape(logits);
    const TensorId target = input("target", {s[0]}, TBEM_I64);
    g.training = true;
    g.outputs = {logits};
    g.loss = native(TBEM_PRIMITIVE_cross_entropy, "cross_entropy", {logits, target}, {{}}, {{"axis", {1}}})[0];
    const OpId forward = g[g.loss].producer;
    phase = Phase::Backward;
    Expr one;
    one.body.roots = {one.number(1)};
    const TensorId dloss = elementwise("ones", one, {{}})[0];
    accumulate(logits, native(TBEM_PRIMITIVE_cross_entropy_gradient, "cross_entropy_gradient", {dloss, logits, target}, {s},
                              {{"axis", {1}}}, forward)[0]);
    while (!tape.empty()) {
      const auto back = tape.back();
      tape.pop_back();
      back();
    }
    phase = Phase::Optimizer;
    for (graph::Graph::Weight& weight : g.weights) update(weight);
  }

  const Shape& shape(TensorId t) const { return shapes[graph::index(t)]; }

private:
  using Attributes = std::vector<std::pair<std::string, Shape>>;

  std::vector<std::int32_t> axes(TensorId t) const {
    std::vector<std::int32_t> list(shape(t).size());
    for (std::size_t k = 0; k < list.size(); ++k) list[k] = static_cast<std::int32_t>(k);
    return list;
  }
  bool isInput(TensorId t) const { return g[g[t].storage].kind == StorageClass::Input; }

  graph::ExprId scalar(const std::string& name, Rational level) {
    const graph::ExprId id = pool.symbolRef(pool.symbol(name, {}, true));
    assignment.push_back(level);
    g.scalars.push_back({name, id});
    return id;
  }
  graph::StorageId storage(StorageClass kind, const std::string& path) {
    g.storages.push_back({kind, path, {}, {}});
    return static_cast<graph::StorageId>(g.storages.size() - 1);
  }
  TensorId tensor(const std::string& name, const Shape& shape, graph::StorageId where, tbem_dtype type) {
    graph::Tensor t;
    t.name = name;
    t.dtype = type;
    t.storage = where;
    for (const std::int64_t dim : shape) t.shape.push_back(pool.constant(dim));
    g.tensors.push_back(t);
    shapes.push_back(shape);
    return static_cast<TensorId>(g.tensors.size() - 1);
  }

  OpId append(graph::Op op) {
    op.phase = phase;
    const auto id = static_cast<OpId>(g.ops.size());
    for (const TensorId t : op.outputs) g[t].producer = id;
    g.ops.push_back(std::move(op));
    g.regions[0].ops.push_back(id);
    return id;
  }
  std::vector<TensorId> native(tbem_primitive primitive, const std::string& name, std::vector<TensorId> inputs,
                               const std::vector<Shape>& results, const Attributes& attributes, OpId forward = graph::kNoOp,
                               StorageClass kind = StorageClass::Activation) {
    graph::Op op;
    op.kind = OpKind::Native;
    op.primitive = primitive;
    op.declaration = name;
    op.inputs = std::move(inputs);
    op.forward = forward;
    for (const auto& [attribute, numbers] : attributes) {
      graph::Attribute made{attribute, {}};
      for (const std::int64_t number : numbers) made.values.push_back(pool.constant(number));
      op.attributes.push_back(std::move(made));
    }
    if (primitive == TBEM_PRIMITIVE_channel_gradient_sums) op.scalars = {eps};
    if (primitive == TBEM_PRIMITIVE_cross_entropy || primitive == TBEM_PRIMITIVE_cross_entropy_gradient)
      op.scalars = {pool.constant(0)};
    for (const Shape& s : results) op.outputs.push_back(tensor("y", s, storage(kind, ""), dtype));
    const std::vector<TensorId> outputs = op.outputs;
    append(std::move(op));
    return outputs;
  }
  std::vector<TensorId> elementwise(const std::string& name, const Expr& e, const std::vector<Shape>& results,
                                    OpId forward = graph::kNoOp, std::vector<graph::StorageId> where = {}) {
    graph::Op op;
    op.kind = OpKind::Elementwise;
    op.declaration = name;
    op.inputs = e.inputs;
    op.elementwise = e.body;
    op.forward = forward;
    for (std::size_t r = 0; r < results.size(); ++r) {
      op.outputs.push_back(tensor("y", results[r], where.empty() ? storage(StorageClass::Activation, "") : where[r], dtype));
    }
    const std::vector<TensorId> outputs = op.outputs;
    append(std::move(op));
    return outputs;
  }
  TensorId view(TensorId x, const Shape& s, Phase) {
    graph::Op op;
    op.kind = OpKind::View;
    op.declaration = "reshape";
    op.inputs = {x};
    op.outputs = {tensor("y", s, g[x].storage, g[x].dtype)};
    const TensorId y = op.outputs[0];
    append(std::move(op));
    return y;
  }
  TensorId sum(TensorId a, TensorId b, Phase) {
    Expr e;
    e.body.roots = {e.op(ElemOp::Add, e.in(a, axes(a)), e.in(b, axes(b)))};
    return elementwise("add", e, {shape(a)})[0];
  }
  void flops(OpId id, const std::vector<std::pair<std::string, std::int64_t>>& parts) {
    for (const auto& [name, count] : parts) g[id].flops.push_back({name, pool.constant(count)});
  }
  void accumulate(TensorId x, TensorId dx) {
    const auto [at, fresh] = gradients.emplace(x, dx);
    if (!fresh) at->second = sum(at->second, dx, Phase::Backward);
  }

  /// buffer = buffer * 9/10 + value / 10.
  void running(const std::string& path, TensorId value) {
    const graph::StorageId where = storage(StorageClass::Buffer, path);
    const TensorId before = tensor(path, shape(value), where, dtype);
    g.buffers.push_back(before);
    Expr e;
    const std::uint32_t kept =
        e.op(ElemOp::Mul, e.in(before, {0}), e.add({.op = ElemOp::Constant, .value = *Rational::make(9, 10)}));
    const std::uint32_t fresh =
        e.op(ElemOp::Mul, e.in(value, {0}), e.add({.op = ElemOp::Constant, .value = *Rational::make(1, 10)}));
    e.body.roots = {e.op(ElemOp::Add, kept, fresh)};
    elementwise("running", e, {shape(value)}, graph::kNoOp, {where});
  }

  /// Ioffe & Szegedy 2015, section 3: the gradient through the batch statistics.
  void normGradient(TensorId x, TensorId y, TensorId w, TensorId b, const std::vector<TensorId>& moments, OpId forward) {
    const Shape s = shape(x);
    const TensorId dy = gradients.at(y);
    const std::vector<TensorId> sums =
        native(TBEM_PRIMITIVE_channel_gradient_sums, "channel_gradient_sums", {dy, x, moments[0], moments[1]}, {{s[1]}, {s[1]}},
               {}, forward, StorageClass::Gradient);
    Expr e;
    const std::uint32_t scale = e.op(ElemOp::Rsqrt, e.op(ElemOp::Add, e.in(moments[1], {1}), e.scalar(eps)));
    const std::uint32_t unit = e.op(ElemOp::Mul, e.op(ElemOp::Sub, e.in(x, {0, 1, 2, 3}), e.in(moments[0], {1})), scale);
    const std::uint32_t count = e.number(s[0] * s[2] * s[3]);
    const std::uint32_t mean =
        e.op(ElemOp::Div, e.op(ElemOp::Add, e.in(sums[1], {1}), e.op(ElemOp::Mul, unit, e.in(sums[0], {1}))), count);
    const std::uint32_t rest = e.op(ElemOp::Sub, e.in(dy, {0, 1, 2, 3}), mean);
    e.body.roots = {e.op(ElemOp::Mul, e.op(ElemOp::Mul, rest, scale), e.in(w, {1}))};
    accumulate(x, elementwise("batch_normalize", e, {s}, forward)[0]);
    accumulate(w, sums[0]);
    accumulate(b, sums[1]);
  }

  /// velocity = momentum * velocity + gradient; weight = weight - lr * velocity.
  void update(graph::Graph::Weight& weight) {
    weight.gradient = gradients.at(weight.value);
    const Shape s = shape(weight.value);
    const std::string path = g[g[weight.value].storage].path + ".velocity";
    const graph::StorageId where = storage(StorageClass::State, path);
    const TensorId velocity = tensor(path, s, where, dtype);
    g.states.push_back(velocity);
    Expr e;
    const std::uint32_t fresh = e.op(ElemOp::Add, e.op(ElemOp::Mul, e.scalar(momentum), e.in(velocity, axes(velocity))),
                                     e.in(weight.gradient, axes(velocity)));
    const std::uint32_t step = e.op(ElemOp::Sub, e.in(weight.value, axes(velocity)), e.op(ElemOp::Mul, e.scalar(lr), fresh));
    e.body.roots = {fresh, step};
    weight.after = elementwise("sgd", e, {s, s}, graph::kNoOp, {where, g[weight.value].storage})[1];
  }

  tbem_dtype dtype;
  Phase phase = Phase::Forward;
  int counter = 0;
  graph::ExprId lr{}, momentum{}, eps{};
  std::vector<std::optional<Rational>> assignment;
  std::vector<Shape> shapes;
  std::map<TensorId, TensorId> gradients;
  std::vector<std::function<void()>> tape;
};

}  // namespace tbem::test
