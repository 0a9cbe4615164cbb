// Runs a graph in f64, operator by operator: natives on the ref backend, element-wise expressions by plain loops. Values are kept
// by storage, so that views and in-place updates do what they say.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/ir/Branches.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"
#include "runtime/core/Primitive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tbem::test {

class Interpreter {
public:
  explicit Interpreter(const graph::Row& row) : row(row), g(row.graph()), values(g.storages.size()) {}

  std::vector<double>& of(graph::TensorId tensor) {
    std::vector<double>& data = values[graph::index(g[tensor].storage)];
    if (data.empty()) data.assign(static_cast<std::size_t>(count(tensor)), 0.0);
    return data;
  }
  std::int64_t count(graph::TensorId tensor) const {
    std::int64_t n = 1;
    for (const std::int64_t dim : row.shape(tensor)) n *= dim;
    return n;
  }
  /// Normal numbers in inputs, half as wide ones in weights: the same for the same seed.
  void fillNormal(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (const graph::TensorId input : g.inputs)
      for (double& value : of(input)) value = normal(random);
    for (const graph::Graph::Weight& weight : g.weights)
      for (double& value : of(weight.value)) value = 0.5 * normal(random);
  }
  double margin = HUGE_VAL;  ///< smallest |a - b| of the comparisons that were computed

  /// Runs all operators of the phases up to `last`, in program order; both arms of a gate for every sample, of which a join
  /// selects.
  void run(graph::Phase last) {
    for (const graph::OpId id : graph::programOrder(g)) {
      const graph::Op& op = g[id];
      if (op.phase > last) continue;
      if (op.kind == graph::OpKind::Native)
        native(op);
      else if (op.kind == graph::OpKind::Elementwise)
        elementwise(op);
      else if (op.kind == graph::OpKind::Exit)
        exitOps.push_back(id);
      else if (op.kind == graph::OpKind::Join)
        join(op);
    }
  }

private:
  void join(const graph::Op& op) {
    std::vector<double>& out = of(op.outputs[0]);
    const auto samples = static_cast<std::size_t>(row.shape(op.outputs[0])[0]);
    const std::size_t each = out.size() / samples;
    for (std::size_t s = 0; s < samples; ++s) {
      graph::TensorId from = op.inputs.back();
      if (op.gate != graph::kNoOp) {
        from = of(op.inputs[0])[s] != 0 ? op.inputs[2] : op.inputs[1];
      } else {
        for (std::size_t e = exitOps.size(); e-- > 0;) {  // the first that fires
          if (of(g[exitOps[e]].inputs[0])[s] != 0) from = g[exitOps[e]].inputs[1];
        }
      }
      std::copy_n(of(from).begin() + static_cast<std::ptrdiff_t>(s * each), each,
                  out.begin() + static_cast<std::ptrdiff_t>(s * each));
    }
  }

  double scalar(graph::ExprId id) const {
    if (row.structure->pool[id].op == sema::ExprOp::Step) return 1.0;
    return row.values[id].toDouble();
  }

  void native(const graph::Op& op) {
    std::vector<graph::TensorId> tensors = op.inputs;
    tensors.insert(tensors.end(), op.outputs.begin(), op.outputs.end());
    std::vector<tbem_operand> operands;
    std::vector<std::vector<char>> data;
    for (const graph::TensorId tensor : tensors) {
      tbem_operand operand{};
      std::vector<char> bytes;
      if (tensor != graph::kNoTensor) {
        const std::vector<std::int64_t> shape = row.shape(tensor);
        operand = runtime::plainOperand(g[tensor].dtype, std::span<const std::int64_t>(shape));
        bytes.resize(std::max<std::size_t>(operand.layout.bytes, 8));
        runtime::fromDoubles(g[tensor].dtype, of(tensor), bytes.data());
      }
      operands.push_back(operand);
      data.push_back(std::move(bytes));
    }
    std::vector<std::int64_t> attributes;
    for (const graph::Attribute& attribute : op.attributes) {
      const bool list = runtime::signature(op.primitive).attributes.find(attribute.name + "[*]") != std::string_view::npos;
      if (list) attributes.push_back(static_cast<std::int64_t>(attribute.values.size()));
      for (const graph::ExprId value : attribute.values) attributes.push_back(row.integer(value));
    }
    std::vector<double> scalars;
    for (const graph::ExprId value : op.scalars) scalars.push_back(scalar(value));
    tbem_op_desc desc{};
    desc.size = sizeof(desc);
    desc.primitive = op.primitive;
    desc.inputs = static_cast<int>(op.inputs.size());
    desc.outputs = static_cast<int>(op.outputs.size());
    desc.operands = operands.data();
    desc.attributes = attributes.data();
    desc.attribute_count = static_cast<int>(attributes.size());
    desc.threads = 1;
    const tbem_backend* ref = tbem_backend_ref();
    tbem_op_info info{};
    ASSERT_EQ(ref->query(&desc, &info), TBEM_OK) << op.declaration << ": " << ref->last_error();
    tbem_op* prepared = nullptr;
    ASSERT_EQ(ref->create(&desc, &prepared), TBEM_OK) << op.declaration << ": " << ref->last_error();
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      pointers.push_back(tensors[i] == graph::kNoTensor ? nullptr : data[i].data());
    std::vector<char> workspace(info.workspace + 64);
    ASSERT_EQ(ref->run(prepared, pointers.data(), workspace.data(), scalars.data()), TBEM_OK)
        << op.declaration << ": " << ref->last_error();
    ref->destroy(prepared);
    for (std::size_t i = op.inputs.size(); i < tensors.size(); ++i)
      runtime::toDoubles(g[tensors[i]].dtype, data[i].data(), of(tensors[i]));
  }

  void elementwise(const graph::Op& op) {
    const std::vector<std::int64_t> dims = row.shape(op.outputs.front());
    const std::int64_t n = count(op.outputs.front());
    std::vector<std::vector<double>> results(op.outputs.size(), std::vector<double>(static_cast<std::size_t>(n)));
    std::vector<std::int64_t> at(dims.size(), 0);
    std::vector<double> node(op.elementwise.nodes.size());
    for (std::int64_t e = 0; e < n; ++e) {
      std::int64_t rest = e;
      for (std::size_t k = dims.size(); k-- > 0;) {
        at[k] = rest % dims[k];
        rest /= dims[k];
      }
      for (std::size_t i = 0; i < node.size(); ++i) node[i] = compute(op, op.elementwise.nodes[i], node, at, e);
      for (std::size_t r = 0; r < results.size(); ++r) results[r][static_cast<std::size_t>(e)] = node[op.elementwise.roots[r]];
    }
    for (std::size_t r = 0; r < results.size(); ++r) of(op.outputs[r]) = results[r];
  }

  double read(const graph::Op& op, std::uint32_t input, const std::vector<std::int64_t>& at) {
    const graph::TensorId tensor = op.inputs[input];
    const std::vector<std::int64_t> shape = row.shape(tensor);
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const std::int32_t axis = op.elementwise.operands[input].axes[k];
      offset = offset * shape[k] + (axis < 0 ? 0 : at[static_cast<std::size_t>(axis)]);
    }
    return of(tensor)[static_cast<std::size_t>(offset)];
  }

  void closer(double a, double b) {
    if (!std::isnan(a) && !std::isnan(b)) margin = std::min(margin, std::fabs(a - b));
  }

  double compute(const graph::Op& op, const graph::ElemNode& node, const std::vector<double>& v,
                 const std::vector<std::int64_t>& at, std::int64_t e) {
    using graph::ElemOp;
    const double a = v[node.a], b = v[node.b], c = v[node.c];
    switch (node.op) {
      case ElemOp::Input:
        return read(op, node.input, at);
      case ElemOp::Constant:
        return node.value.toDouble();
      case ElemOp::Scalar:
        return scalar(node.scalar);
      case ElemOp::Random:
        return runtime::philoxUniform(runtime::philoxAt(7, node.stream, 1, static_cast<std::uint64_t>(e)));
      case ElemOp::Index:
        return static_cast<double>(at[node.input]);
      case ElemOp::Add:
        return a + b;
      case ElemOp::Sub:
        return a - b;
      case ElemOp::Mul:
        return a * b;
      case ElemOp::Div:
        return a / b;
      case ElemOp::Neg:
        return -a;
      case ElemOp::Minimum:
        return std::fmin(a, b);
      case ElemOp::Maximum:
        return std::fmax(a, b);
      case ElemOp::Abs:
        return std::fabs(a);
      case ElemOp::Exp:
        return std::exp(a);
      case ElemOp::Log:
        return std::log(a);
      case ElemOp::Sqrt:
        return std::sqrt(a);
      case ElemOp::Rsqrt:
        return 1 / std::sqrt(a);
      case ElemOp::Pow:
        return std::pow(a, b);
      case ElemOp::Tanh:
        return std::tanh(a);
      case ElemOp::Erf:
        return std::erf(a);
      case ElemOp::Sin:
        return std::sin(a);
      case ElemOp::Cos:
        return std::cos(a);
      case ElemOp::Floor:
        return std::floor(a);
      case ElemOp::Equal:
        return a == b ? 1 : 0;
      case ElemOp::Less:
        closer(a, b);
        return a < b ? 1 : 0;
      case ElemOp::LessEqual:
        closer(a, b);
        return a <= b ? 1 : 0;
      case ElemOp::And:
        return a != 0 && b != 0 ? 1 : 0;
      case ElemOp::Or:
        return a != 0 || b != 0 ? 1 : 0;
      case ElemOp::Not:
        return a == 0 ? 1 : 0;
      case ElemOp::Select:
        return a != 0 ? b : c;
      case ElemOp::Cast:
        return a;
    }
    return 0;
  }

  const graph::Row& row;
  const graph::Graph& g;
  std::vector<std::vector<double>> values;
  std::vector<graph::OpId> exitOps;  ///< met so far
};

}  // namespace tbem::test
