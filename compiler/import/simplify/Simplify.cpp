#include "compiler/import/simplify/Simplify.h"

#include "compiler/import/Expression.h"
#include "compiler/import/ModuleCalls.h"

#include <algorithm>
#include <map>
#include <set>

namespace tbem::imports {

namespace {

/// What is written over as a whole is not read: a part that gets other elements is no operand of these.
void leaveOutWrittenOver(Exported& exported) {
  static const std::set<std::string> kWholes = {"zero", "fill", "copy"};
  for (Value& value : exported.values) {
    if (writesInPlace(value) && kWholes.contains(wordOf(value)) && !value.arguments.empty()) value.arguments.front() = Argument();
  }
}

/// Whether a gradient of the value would lead to a weight or to an input, by value.
std::vector<bool> leadBack(const Exported& exported) {
  std::vector<bool> leads(exported.values.size(), false);
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    const Value& value = exported.values[at];
    const bool hasGradient = !value.parts.empty() || isReal(value.facts);
    if (value.kind == Value::Kind::Weight) leads[at] = value.isLearned;
    if (value.kind == Value::Kind::Input) leads[at] = hasGradient;
    if (value.kind != Value::Kind::Node || !hasGradient || wordOf(value) == "detach") continue;
    leads[at] = std::ranges::any_of(operandsOf(value), [&](ValueId operand) { return leads[index(operand)]; });
  }
  return leads;
}

/// What no gradient reaches needs none stopped: it is given on.
void leaveOutNeedlessStops(Exported& exported) {
  const std::vector<bool> leads = leadBack(exported);
  for (Value& value : exported.values) {
    if (value.kind != Value::Kind::Node || wordOf(value) != "detach") continue;
    const std::vector<ValueId> operands = operandsOf(value);
    if (operands.size() == 1 && !leads[index(operands.front())]) value.op = "aten.alias.default";
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
  exported = withoutPartialWrites(std::move(exported));
  takeLayersApart(exported);
  takeResultsApart(exported);
  nameMasks(exported);
  nameGrids(exported);
  leaveOutWrittenOver(exported);
  leaveOutNeedlessStops(exported);
  leaveOutCopies(exported);
  findSharedWeights(exported);
  return exported;
}

}  // namespace tbem::imports
