// What a graph means: its operators one by one in f64, natives by the ref backend, element-wise expressions by plain loops.
// Values are kept by storage, so that views and in-place updates do what they say.
#pragma once

#include "test/oracle/Element.h"
#include "test/oracle/Native.h"

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/ir/Walk.h"
#include "runtime/core/Philox.h"
#include "runtime/core/Primitive.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tbem::oracle {

/// Of random numbers, in the first step of a run.
constexpr std::uint64_t kSeed = 7;

class GraphInterpreter {
public:
  /// `pool`: where `step` is to be found among the graph's expressions; nullptr: it is not used.
  GraphInterpreter(const graph::Graph& graph, const sema::Values& values, const sema::ExprPool* pool)
      : g(graph), values(values), pool(pool), stored(graph.storages.size()) {}
  explicit GraphInterpreter(const graph::Row& row) : GraphInterpreter(row.graph(), row.values, &row.structure->pool) {}

  std::vector<double>& of(graph::TensorId tensor) {
    std::vector<double>& data = stored[graph::index(g[tensor].storage)];
    if (data.empty()) data.assign(count(tensor), 0.0);
    return data;
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
  std::vector<std::int64_t> shape(graph::TensorId tensor) const {
    std::vector<std::int64_t> dims;
    for (const graph::ExprId id : g[tensor].shape) dims.push_back(values.integer(id));
    return dims;
  }
  std::size_t count(graph::TensorId tensor) const {
    std::size_t n = 1;
    for (const std::int64_t dim : shape(tensor)) n *= static_cast<std::size_t>(dim);
    return n;
  }
  double scalar(graph::ExprId id) const {
    return pool != nullptr && (*pool)[id].op == sema::ExprOp::Step ? 1.0 : values[id].toDouble();
  }

  void join(const graph::Op& op) {
    std::vector<double>& out = of(op.outputs[0]);
    const auto samples = static_cast<std::size_t>(shape(op.outputs[0])[0]);
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

  void native(const graph::Op& op) {
    NativeCall call;
    call.primitive = op.primitive;
    call.inputs = static_cast<int>(op.inputs.size());
    std::vector<std::vector<double>> data;
    for (const std::vector<graph::TensorId>* list : {&op.inputs, &op.outputs}) {
      for (const graph::TensorId tensor : *list) {
        const bool there = tensor != graph::kNoTensor;
        call.operands.push_back(there ? runtime::plainOperand(g[tensor].dtype, std::span<const std::int64_t>(shape(tensor)))
                                      : tbem_operand{});
        data.push_back(there && list == &op.inputs ? of(tensor) : std::vector<double>{});
      }
    }
    for (const graph::Attribute& attribute : op.attributes) {
      const bool list = runtime::signature(op.primitive).attributes.find(attribute.name + "[*]") != std::string_view::npos;
      if (list) call.attributes.push_back(static_cast<std::int64_t>(attribute.values.size()));
      for (const graph::ExprId value : attribute.values) call.attributes.push_back(values.integer(value));
    }
    for (const graph::ExprId value : op.scalars) call.scalars.push_back(scalar(value));
    runNative(call, data);
    for (std::size_t r = 0; r < op.outputs.size(); ++r) {
      if (op.outputs[r] != graph::kNoTensor) of(op.outputs[r]) = data[op.inputs.size() + r];
    }
  }

  void elementwise(const graph::Op& op) {
    std::vector<std::vector<std::int64_t>> inputDims;
    for (const graph::TensorId input : op.inputs) inputDims.push_back(shape(input));
    std::vector<std::vector<double>> results(op.outputs.size());
    std::vector<double> node(op.elementwise.nodes.size());
    std::uint64_t element = 0;
    forEach(shape(op.outputs.front()), [&](const std::vector<std::int64_t>& at) {
      for (std::size_t i = 0; i < node.size(); ++i) {
        const graph::ElemNode& n = op.elementwise.nodes[i];
        switch (n.op) {
          case graph::ElemOp::Input: {
            const std::vector<std::int64_t>& dims = inputDims[n.input];
            node[i] = of(op.inputs[n.input])[rowMajor(dims, operandCoordinates(op.elementwise.operands[n.input].axes, dims, at))];
            break;
          }
          case graph::ElemOp::Scalar:
            node[i] = scalar(n.scalar);
            break;
          case graph::ElemOp::Random:
            node[i] = runtime::philoxUniform(runtime::philoxAt(kSeed, n.stream, 1, element));
            break;
          case graph::ElemOp::Index:
            node[i] = static_cast<double>(at[n.input]);
            break;
          case graph::ElemOp::Less:
          case graph::ElemOp::LessEqual:
            closer(node[n.a], node[n.b]);
            [[fallthrough]];
          default:
            node[i] = realValue(n, node[n.a], node[n.b], node[n.c]);
        }
      }
      for (std::size_t r = 0; r < results.size(); ++r) results[r].push_back(node[op.elementwise.roots[r]]);
      ++element;
    });
    for (std::size_t r = 0; r < results.size(); ++r) of(op.outputs[r]) = results[r];
  }

  void closer(double a, double b) {
    if (!std::isnan(a) && !std::isnan(b)) margin = std::min(margin, std::fabs(a - b));
  }

  const graph::Graph& g;
  const sema::Values& values;
  const sema::ExprPool* pool;
  std::vector<std::vector<double>> stored;
  std::vector<graph::OpId> exitOps;  ///< met so far
};

}  // namespace tbem::oracle
