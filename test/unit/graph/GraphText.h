// All that a graph holds as lines of text, to be compared.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <type_traits>
#include <vector>

namespace tbem::test {

template <class Id>
requires std::is_enum_v<Id>
auto number(Id id) { return static_cast<std::underlying_type_t<Id>>(id); }

template <class Id>
std::string numbers(const std::vector<Id>& ids) {
  std::string text;
  for (const Id id : ids) text += fmt::format("{} ", number(id));
  return text;
}

inline std::string text(const SrcRange& range) { return fmt::format("{}-{}", range.begin, range.end); }

inline std::string text(const graph::Op& op) {
  std::string line = fmt::format(
      "op {} {} {} '{}' in [{}] out [{}] phase {} of {} repeats {} window {} scope {} region {} owns [{}] ", number(op.kind),
      static_cast<int>(op.primitive), op.declaration, op.path, numbers(op.inputs), numbers(op.outputs), number(op.phase),
      number(op.forward), op.repeats, op.window, number(op.scope), number(op.region), numbers(op.regions));
  line += fmt::format("gate {} at {} {} own {}:{} {} {} ", number(op.gate), text(op.range), text(op.use), op.own.library,
                      op.own.symbol, text(op.own.range), number(op.own.workspace));
  for (const graph::Attribute& attribute : op.attributes)
    line += fmt::format("{}=[{}] ", attribute.name, numbers(attribute.values));
  for (const graph::FlopPart& part : op.flops) line += fmt::format("{} {} ", part.name, number(part.count));
  line += fmt::format("scalars [{}] roots [{}] ", numbers(op.scalars), fmt::join(op.elementwise.roots, " "));
  for (const graph::ElemNode& node : op.elementwise.nodes) {
    line += fmt::format("({} {} {} {} {} {} {} {} {}) ", number(node.op), node.a, node.b, node.c, node.input, node.value.str(),
                        number(node.scalar), node.stream, node.dtype);
  }
  for (const graph::ElemOperand& operand : op.elementwise.operands) line += fmt::format("<{}> ", fmt::join(operand.axes, " "));
  return line;
}

/// Everything of a graph, a line each.
inline std::vector<std::string> everything(const graph::Graph& g) {
  std::vector<std::string> lines;
  for (const graph::Storage& s : g.storages) {
    lines.push_back(fmt::format("storage {} '{}' {} {} {} {} at {}", number(s.kind), s.path, s.init.kind, number(s.init.a),
                                number(s.init.b), s.carried, text(s.range)));
  }
  for (const graph::Tensor& t : g.tensors) {
    lines.push_back(fmt::format("tensor {} {} [{}] in {} by {} at {}", t.name, static_cast<int>(t.dtype), numbers(t.shape),
                                number(t.storage), number(t.producer), text(t.range)));
  }
  for (const graph::Op& op : g.ops) lines.push_back(text(op));
  for (const graph::Region& r : g.regions) lines.push_back(fmt::format("region [{}] of {}", numbers(r.ops), number(r.owner)));
  for (const graph::Scope& s : g.scopes)
    lines.push_back(fmt::format("scope '{}' {} in {} at {}", s.path, s.declaration, number(s.parent), text(s.range)));
  for (const graph::Obligation& o : g.obligations) {
    std::string line = fmt::format("must {} {} '{}' at {} {} of {} '{}' culprit {}", number(o.kind), number(o.condition), o.text,
                                   text(o.range), text(o.use), o.subject, o.message, number(o.culprit));
    for (const auto& [name, value] : o.bindings) line += fmt::format(" {}={}", name, number(value));
    lines.push_back(std::move(line));
  }
  for (const graph::RuntimeScalar& s : g.scalars) lines.push_back(fmt::format("scalar {} {}", s.name, number(s.value)));
  for (const graph::Graph::Weight& w : g.weights) {
    lines.push_back(
        fmt::format("weight {} {} {} {} {}", number(w.value), number(w.gradient), number(w.after), w.optimizer, w.frozen));
  }
  for (const graph::Graph::Wanted& w : g.wanted)
    lines.push_back(fmt::format("wanted {} {}", number(w.value), number(w.gradient)));
  for (const graph::Graph::Optimizer& o : g.optimizers) {
    std::string line = "optimizer " + o.declaration;
    for (const auto& [name, value] : o.numbers) line += fmt::format(" {}={}", name, number(value));
    lines.push_back(std::move(line));
  }
  lines.push_back(fmt::format("inputs [{}] outputs [{}] buffers [{}] states [{}] loss {}", numbers(g.inputs), numbers(g.outputs),
                              numbers(g.buffers), numbers(g.states), number(g.loss)));
  lines.push_back(
      fmt::format("{}: {} targets, training {}, tf32 {}, {} parts", g.network, g.targets, g.training, g.tf32, g.microBatches));
  return lines;
}

}  // namespace tbem::test
