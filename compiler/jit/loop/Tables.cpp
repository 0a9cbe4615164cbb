#include "compiler/jit/loop/Tables.h"

#include <algorithm>

namespace tbem::jit {

namespace {

using graph::ElemNode;
using graph::ElemOp;

constexpr std::int64_t kLongestRow = 2048;  ///< 16 KiB of f64
constexpr std::int64_t kFewestRows = 16;
constexpr std::size_t kMostTables = 4;

enum class Reach : std::uint8_t { Uniform, Row, All };

bool isDear(ElemOp op) {
  return op == ElemOp::Div || op == ElemOp::Sqrt || op == ElemOp::Rsqrt || op == ElemOp::Exp || op == ElemOp::Log ||
         op == ElemOp::Pow || op == ElemOp::Tanh || op == ElemOp::Erf || op == ElemOp::Sin || op == ElemOp::Cos;
}

Reach reachOf(const Form& form) {
  return std::all_of(form.stride.begin(), form.stride.end() - 1, [](std::int64_t s) { return s == 0; }) ? Reach::Row : Reach::All;
}

class Finder {
public:
  Finder(const LoopNest& n, const std::vector<NodeType>& t) : nest(n), types(t), reach(n.nodes.size()), dear(n.nodes.size()) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) look(i);
    std::vector<bool> chosen(nest.nodes.size(), false);
    for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) {
      if (!types[i].used || reach[i] != Reach::All) continue;
      eachOperand(nest.nodes[i], [&](std::uint32_t operand) {
        if (reach[operand] == Reach::Row && dear[operand]) chosen[operand] = true;
      });
    }
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < chosen.size(); ++i) {
      const bool floating = types[i].type == ValueType::F32 || types[i].type == ValueType::F64;
      if (chosen[i] && floating && nodes.size() < kMostTables) nodes.push_back(i);
    }
    return nodes;
  }

private:
  void look(std::uint32_t i) {
    if (types[i].uniform) return;
    const ElemNode& node = nest.nodes[i];
    switch (node.op) {
      case ElemOp::Input:
        reach[i] = nest.inputs[node.input].indirect.empty() ? reachOf(nest.inputs[node.input].offset) : Reach::All;
        break;
      case ElemOp::Index:
        for (const Coordinate& c : nest.coordinates) {
          if (c.dim == node.input) reach[i] = reachOf(c.form);
        }
        break;
      case ElemOp::Random:
        reach[i] = Reach::All;
        break;
      default:
        dear[i] = isDear(node.op);
        eachOperand(node, [&](std::uint32_t operand) {
          reach[i] = std::max(reach[i], reach[operand]);
          dear[i] = dear[i] || dear[operand];
        });
        break;
    }
  }

  const LoopNest& nest;
  const std::vector<NodeType>& types;
  std::vector<Reach> reach;
  std::vector<bool> dear;  ///< takes long, or an operand does
};

}  // namespace

Tables findTables(const LoopNest& nest, const std::vector<NodeType>& types) {
  Tables tables;
  tables.before.assign(nest.nodes.size(), false);
  tables.body.assign(nest.nodes.size(), false);
  std::int64_t rows = 1;
  for (std::size_t v = 0; v + 1 < nest.trips.size(); ++v) rows *= nest.trips[v];
  const bool padded = std::any_of(nest.coordinates.begin(), nest.coordinates.end(), [](const Coordinate& c) { return c.padded; });
  const bool inRows = nest.prefix < nest.trips.size() && nest.chunks == 1;
  if (rows >= kFewestRows && inRows && nest.trips.back() <= kLongestRow && !padded) tables.nodes = Finder(nest, types).run();

  const auto isTable = [&](std::uint32_t i) {
    return std::find(tables.nodes.begin(), tables.nodes.end(), i) != tables.nodes.end();
  };
  for (const std::uint32_t node : tables.nodes) tables.before[node] = true;
  for (const LoopOutput& output : nest.outputs) tables.body[output.node] = true;
  for (auto i = static_cast<std::uint32_t>(nest.nodes.size()); i-- > 0;) {
    if (tables.before[i]) eachOperand(nest.nodes[i], [&](std::uint32_t operand) { tables.before[operand] = true; });
    if (tables.body[i] && !isTable(i)) eachOperand(nest.nodes[i], [&](std::uint32_t operand) { tables.body[operand] = true; });
  }
  return tables;
}

}  // namespace tbem::jit
