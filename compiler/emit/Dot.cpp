#include "compiler/emit/Emit.h"

#include <map>
#include <vector>

namespace tbem::emit {

using graph::index;

namespace {
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string shapeText(const graph::Graph& graph, const sema::Values& values, graph::TensorId tensor) {
  std::string text;
  for (const graph::ExprId dim : graph[tensor].shape) {
    if (!text.empty()) text += "x";
    text += values.errorOf(dim) == sema::EvalError::None ? values[dim].str() : "?";
  }
  return text.empty() ? "scalar" : text;
}

/// "stage[0]" of "stage[0].residual.conv2d": the outermost block.
std::string outermost(const graph::Graph& graph, const graph::Op& op) {
  if (graph.scopes.empty()) return "";
  const std::string& path = graph.scopes[index(op.scope)].path;
  return path.substr(0, path.find('.'));
}

std::string node(graph::OpId id) { return "op" + std::to_string(index(id)); }
}  // namespace

std::string emitDot(const graph::Graph& graph, const sema::Values& values) {
  std::string out = "digraph " + quoted(graph.network) + " {\n  rankdir=TB; node [shape=box, fontname=\"sans-serif\"];\n";
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::TensorId tensor = graph.inputs[i];
    out += "  in" + std::to_string(i) +
           " [shape=oval, label=" + quoted(graph[tensor].name + "\n" + shapeText(graph, values, tensor)) + "];\n";
  }
  std::map<std::string, std::vector<graph::OpId>> blocks;
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i)
    blocks[outermost(graph, graph.ops[i])].push_back(static_cast<graph::OpId>(i));
  std::size_t cluster = 0;
  for (const auto& [path, ops] : blocks) {
    if (!path.empty()) out += "  subgraph cluster_" + std::to_string(cluster++) + " {\n    label=" + quoted(path) + ";\n";
    for (const graph::OpId id : ops) {
      const bool forward = graph[id].phase == graph::Phase::Forward;
      out += (path.empty() ? "  " : "    ") + node(id) + " [label=" + quoted(graph[id].declaration) +
             (forward ? "" : ", style=dashed") + "];\n";
    }
    if (!path.empty()) out += "  }\n";
  }
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    const auto id = static_cast<graph::OpId>(i);
    for (const graph::TensorId tensor : graph[id].inputs) {
      if (tensor == graph::kNoTensor) continue;
      std::string from;
      if (graph[tensor].producer != graph::kNoOp) from = node(graph[tensor].producer);
      for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
        if (graph.inputs[k] == tensor) from = "in" + std::to_string(k);
      }
      if (!from.empty()) out += "  " + from + " -> " + node(id) + " [label=" + quoted(shapeText(graph, values, tensor)) + "];\n";
    }
  }
  return out + "}\n";
}

}  // namespace tbem::emit
