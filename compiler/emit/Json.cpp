#include "compiler/emit/Emit.h"

#include "compiler/emit/OrderedJson.h"
#include "compiler/graph/ir/ElemNames.h"
#include "compiler/sema/Value.h"
#include "runtime/include/tbem/primitives.h"

#include <nlohmann/json.hpp>

namespace tbem::emit {

using graph::index;

namespace {
std::string_view dtypeName(tbem_dtype dtype) { return sema::kDTypeNames[dtype]; }
const char* className(graph::StorageClass kind) {
  static constexpr const char* kNames[] = {
#define TBEM_STORAGE_CLASS(enumerator, name) name,
#include "runtime/include/tbem/storage_classes.def"
  };
  return kNames[static_cast<std::size_t>(kind)];
}
const char* kindName(graph::OpKind kind) {
  static constexpr const char* kNames[] = {"native", "elementwise", "view", "skip", "exit", "join"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(graph::OpKind::Join) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}
const char* phaseName(graph::Phase phase) {
  static constexpr const char* kNames[] = {"forward", "backward", "optimizer"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(graph::Phase::Optimizer) + 1);
  return kNames[static_cast<std::size_t>(phase)];
}

class Writer {
public:
  Writer(const graph::Graph& g, const sema::Values& v, const SourceManager& s) : graph(g), values(v), sources(s) {}

  Json write() const {
    Json all{{"kind", "graph"}, {"schema", 1}, {"network", graph.network}, {"training", graph.training}};
    all["inputs"] = ids(graph.inputs);
    all["outputs"] = ids(graph.outputs);
    all["loss"] = id(graph.loss);
    all["weights"] = Json::array();
    for (const auto& weight : graph.weights) {
      all["weights"].push_back({{"path", graph[graph[weight.value].storage].path},
                                {"value", id(weight.value)},
                                {"gradient", id(weight.gradient)},
                                {"after", id(weight.after)}});
    }
    all["scalars"] = Json::array();
    for (const auto& scalar : graph.scalars) all["scalars"].push_back({{"name", scalar.name}, {"value", number(scalar.value)}});
    all["storages"] = Json::array();
    for (const auto& storage : graph.storages) all["storages"].push_back(storageOf(storage));
    all["tensors"] = Json::array();
    for (const auto& tensor : graph.tensors) all["tensors"].push_back(tensorOf(tensor));
    all["operators"] = Json::array();
    for (const auto& op : graph.ops) all["operators"].push_back(operatorOf(op));
    all["regions"] = Json::array();
    for (const auto& region : graph.regions) {
      Json ops = Json::array();
      for (const graph::OpId op : region.ops) ops.push_back(index(op));
      all["regions"].push_back(std::move(ops));
    }
    return all;
  }

private:
  static Json id(graph::TensorId tensor) { return tensor == graph::kNoTensor ? Json() : Json(index(tensor)); }
  static Json ids(const std::vector<graph::TensorId>& tensors) {
    Json list = Json::array();
    for (const graph::TensorId tensor : tensors) list.push_back(id(tensor));
    return list;
  }
  Json number(sema::ExprId expr) const {
    if (expr == sema::kNoExpr || values.errorOf(expr) != sema::EvalError::None) return {};
    return values[expr].isInt() ? Json(values[expr].num) : Json(values[expr].toDouble());
  }
  Json numbers(const std::vector<sema::ExprId>& list) const {
    Json all = Json::array();
    for (const sema::ExprId expr : list) all.push_back(number(expr));
    return all;
  }
  Json place(SrcRange range) const { return range.valid() ? Json(sources.describe(range.begin)) : Json(); }

  Json storageOf(const graph::Storage& storage) const {
    Json one{{"class", className(storage.kind)}, {"path", storage.path}};
    const bool filled = storage.kind == graph::StorageClass::Weight || storage.kind == graph::StorageClass::Buffer ||
                        storage.kind == graph::StorageClass::State;
    if (filled) one["init"] = {{"kind", storage.init.kind}, {"a", number(storage.init.a)}, {"b", number(storage.init.b)}};
    return one;
  }
  Json tensorOf(const graph::Tensor& tensor) const {
    return {{"name", tensor.name},
            {"dtype", dtypeName(tensor.dtype)},
            {"shape", numbers(tensor.shape)},
            {"storage", index(tensor.storage)}};
  }
  Json operatorOf(const graph::Op& op) const {
    Json one{{"operator", op.declaration}, {"kind", kindName(op.kind)}, {"phase", phaseName(op.phase)}};
    if (op.primitive != TBEM_PRIMITIVE_COUNT) one["primitive"] = runtime::signature(op.primitive).name;
    if (!op.own.symbol.empty()) one["symbol"] = op.own.symbol;
    one["path"] = graph.scopes.empty() ? std::string() : graph.scopes[index(op.scope)].path;
    one["inputs"] = ids(op.inputs);
    one["outputs"] = ids(op.outputs);
    if (!op.attributes.empty()) {
      one["attributes"] = Json::object();
      for (const auto& attribute : op.attributes) one["attributes"][attribute.name] = numbers(attribute.values);
    }
    if (!op.scalars.empty()) one["scalars"] = numbers(op.scalars);
    if (op.kind == graph::OpKind::Elementwise) one["expression"] = expression(op.elementwise);
    if (!op.flops.empty()) {
      one["flops"] = Json::object();
      for (const auto& part : op.flops) one["flops"][part.name] = number(part.count);
    }
    if (!op.regions.empty()) {
      one["regions"] = Json::array();
      for (const graph::RegionId region : op.regions) one["regions"].push_back(index(region));
    }
    one["at"] = place(op.range);
    return one;
  }
  Json expression(const graph::Elementwise& body) const {
    Json nodes = Json::array();
    for (const graph::ElemNode& node : body.nodes) {
      Json one = Json::array({graph::nameOf(node.op)});
      switch (node.op) {
        case graph::ElemOp::Input:
        case graph::ElemOp::Index:
          one.push_back(node.input);
          break;
        case graph::ElemOp::Constant:
          one.push_back(node.value.str());
          break;
        case graph::ElemOp::Scalar:
          one.push_back(number(node.scalar));
          break;
        case graph::ElemOp::Random:
          one.push_back(node.stream);
          break;
        default:
          one.push_back(node.a);
          if (graph::operandCount(node.op) > 1) one.push_back(node.b);
          if (graph::operandCount(node.op) > 2) one.push_back(node.c);
      }
      nodes.push_back(std::move(one));
    }
    Json axes = Json::array();
    for (const graph::ElemOperand& operand : body.operands) axes.push_back(operand.axes);
    return {{"nodes", std::move(nodes)}, {"results", body.roots}, {"axes", std::move(axes)}};
  }

  const graph::Graph& graph;
  const sema::Values& values;
  const SourceManager& sources;
};
}  // namespace

std::string emitJson(const graph::Graph& graph, const sema::Values& values, const SourceManager& sources) {
  return Writer(graph, values, sources).write().dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tbem::emit
