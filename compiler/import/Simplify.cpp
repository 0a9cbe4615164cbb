#include "compiler/import/Simplify.h"

#include "compiler/import/Expression.h"
#include "compiler/import/ModuleCalls.h"

#include <algorithm>
#include <map>
#include <set>

namespace tbem::imports {

namespace {

void replace(Argument& argument, const std::vector<ValueId>& by) {
  if (argument.kind == Argument::Kind::Value) argument.value = by[index(argument.value)];
  for (Argument& item : argument.items) replace(item, by);
}

/// Whether the node's result lies in its first operand's memory.
bool isView(const Value& node) {
  static const std::set<std::string> kViews = {"select",    "slice",  "view",      "transpose", "swapaxes",        "permute",
                                               "t",         "split",  "unbind",    "chunk",     "expand",          "squeeze",
                                               "unsqueeze", "narrow", "unflatten", "getitem",   "split_with_sizes"};
  return node.kind == Value::Kind::Node && kViews.contains(wordOf(node));
}

bool writesInPlace(const Value& node) {
  const std::string name = node.op.substr(0, node.op.find('.', node.op.find('.') + 1));
  return node.kind == Value::Kind::Node && name.ends_with('_') && !name.ends_with("__");
}

void markPartialWrites(Exported& exported) {
  std::vector<std::size_t> lastRead(exported.values.size(), 0);
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    for (const ValueId operand : operandsOf(exported.values[at])) lastRead[index(operand)] = at;
  }
  for (const Output& output : exported.outputs) lastRead[index(output.value)] = exported.values.size();
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    Value& node = exported.values[at];
    if (!writesInPlace(node) || node.arguments.empty() || node.arguments.front().kind != Argument::Kind::Value) continue;
    bool isReadLater = false;
    for (ValueId into = node.arguments.front().value; isView(exported[into]);) {
      const Argument& base = exported[into].arguments.front();
      if (base.kind != Argument::Kind::Value) break;
      into = base.value;
      isReadLater = isReadLater || lastRead[index(into)] > at;
    }
    if (isReadLater) node.op = "in-place " + node.op;
  }
}

void leaveOutCopies(Exported& exported) {
  std::vector<ValueId> by(exported.values.size());
  std::set<std::size_t> without;
  for (std::size_t at = 0; at < by.size(); ++at) {
    Value& value = exported.values[at];
    by[at] = static_cast<ValueId>(at);
    for (Argument& argument : value.arguments) replace(argument, by);
    for (auto& [name, argument] : value.named) replace(argument, by);
    if (value.kind != Value::Kind::Node) continue;
    if (const std::optional<ValueId> same = givenOn(exported, value)) {
      by[at] = *same;
      without.insert(at);
    }
  }
  for (Output& output : exported.outputs) output.value = by[index(output.value)];
  // What nothing reads any more goes, from the end.
  std::vector<std::size_t> counts = readCounts(exported);
  for (std::size_t at = by.size(); at-- > 0;) {
    const Value& value = exported.values[at];
    const bool isUnread = counts[at] == 0 && value.kind == Value::Kind::Node && !writesInPlace(value);
    if (!isUnread && !without.contains(at)) continue;
    for (const ValueId operand : operandsOf(value)) --counts[index(operand)];
    without.insert(at);
  }
  std::vector<Value> kept;
  for (std::size_t at = 0; at < by.size(); ++at) {
    by[at] = static_cast<ValueId>(kept.size());
    if (!without.contains(at)) kept.push_back(std::move(exported.values[at]));
  }
  for (Value& value : kept) {
    for (Argument& argument : value.arguments) replace(argument, by);
    for (auto& [name, argument] : value.named) replace(argument, by);
  }
  exported.values = std::move(kept);
  for (ValueId& input : exported.inputs) input = by[index(input)];
  for (Output& output : exported.outputs) output.value = by[index(output.value)];
}

/// A weight that makes an operator have shared weights makes its others shared, too.
void findSharedWeights(Exported& exported) {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<ValueId, std::set<std::string>> owners;
    std::set<ValueId> read;
    for (const Value& value : exported.values) {
      std::set<ValueId> owned;
      for (const auto& [name, weight] : weightsOf(exported, value)) {
        owned.insert(weight);
        owners[weight].insert(wordOf(value) + " in " + (value.modules.empty() ? "" : value.modules.back().path));
      }
      for (const ValueId operand : operandsOf(value)) {
        if (!owned.contains(operand)) read.insert(operand);
      }
    }
    for (std::size_t at = 0; at < exported.values.size(); ++at) {
      Value& value = exported.values[at];
      const auto id = static_cast<ValueId>(at);
      if (value.kind != Value::Kind::Weight || value.isShared) continue;
      if (!read.contains(id) && owners[id].size() < 2) continue;
      value.isShared = true;
      changed = true;
    }
  }
}

}  // namespace

Exported simplified(Exported exported) {
  markPartialWrites(exported);
  leaveOutCopies(exported);
  findSharedWeights(exported);
  return exported;
}

}  // namespace tbem::imports
