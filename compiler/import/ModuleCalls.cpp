#include "compiler/import/ModuleCalls.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace tbem::imports {

namespace {

void addOperands(const Argument& argument, std::vector<ValueId>& operands) {
  if (argument.kind == Argument::Kind::Value) operands.push_back(argument.value);
  for (const Argument& item : argument.items) addOperands(item, operands);
}

class Tree {
public:
  explicit Tree(const Exported& exported) : exported(exported), readers(exported.values.size()) {
    for (std::size_t at = 0; at < exported.values.size(); ++at) {
      for (const ValueId operand : operandsOf(exported.values[at])) readers[index(operand)].push_back(static_cast<ValueId>(at));
    }
  }

  std::unique_ptr<ModuleCall> build() {
    auto root = std::make_unique<ModuleCall>();
    root->kind = exported.kind;
    std::vector<std::string> keys = {""};
    std::vector<ModuleCall*> open = {root.get()};
    for (std::size_t at = 0; at < exported.values.size(); ++at) {
      const Value& value = exported.values[at];
      if (value.kind != Value::Kind::Node) continue;
      enter(value, keys, open);
      ModuleItem item;
      item.node = static_cast<ValueId>(at);
      open.back()->items.push_back(std::move(item));
    }
    connect(*root);
    root->outputs.clear();  // as the model gives them
    for (const Output& output : exported.outputs) root->outputs.push_back(output.value);
    return root;
  }

private:
  /// Opens the calls that the node was made in, and closes others. The first entry of a node's modules is the model itself.
  static void enter(const Value& value, std::vector<std::string>& keys, std::vector<ModuleCall*>& open) {
    std::size_t depth = 1;
    while (depth < keys.size() && depth < value.modules.size() && keys[depth] == value.modules[depth].key) ++depth;
    if (value.modules.empty()) depth = keys.size();  // a size, computed where it is first asked for
    keys.resize(depth);
    open.resize(depth);
    for (; depth < value.modules.size(); ++depth) {
      const ModuleUse& use = value.modules[depth];
      ModuleItem item;
      item.child = std::make_unique<ModuleCall>();
      item.child->path = use.path;
      item.child->kind = use.kind;
      ModuleCall* const child = item.child.get();
      open.back()->items.push_back(std::move(item));
      open.push_back(child);
      keys.push_back(use.key);
    }
  }

  /// Finds inputs and outputs, of the calls inside first. Where a value was made is known by the order of nodes.
  void connect(ModuleCall& call) {
    const std::set<ValueId> inside = madeIn(call);
    std::set<ValueId> known;
    for (ModuleItem& item : call.items) {
      std::vector<ValueId> read;
      if (item.child != nullptr) {
        connect(*item.child);
        read = item.child->inputs;
      } else {
        read = operandsOf(exported[item.node]);
      }
      for (const ValueId operand : read) {
        const Value& value = exported[operand];
        const bool isGiven = value.kind == Value::Kind::Input || (value.kind == Value::Kind::Node && !inside.contains(operand)) ||
                             (value.kind == Value::Kind::Weight && value.isShared && isReadOutside(operand, inside));
        if (isGiven && known.insert(operand).second) call.inputs.push_back(operand);
      }
    }
    for (const ValueId value : inside) {
      if (isReadOutside(value, inside)) call.outputs.push_back(value);
    }
  }

  std::set<ValueId> madeIn(const ModuleCall& call) const {
    std::set<ValueId> nodes;
    for (const ModuleItem& item : call.items) {
      if (item.child == nullptr)
        nodes.insert(item.node);
      else
        nodes.merge(madeIn(*item.child));
    }
    return nodes;
  }

  bool isReadOutside(ValueId value, const std::set<ValueId>& inside) const {
    const auto isResult = [&](const Output& output) { return output.value == value; };
    const std::vector<ValueId>& all = readers[index(value)];
    return std::any_of(exported.outputs.begin(), exported.outputs.end(), isResult) ||
           std::any_of(all.begin(), all.end(), [&](ValueId reader) { return !inside.contains(reader); });
  }

  const Exported& exported;
  std::vector<std::vector<ValueId>> readers;  ///< by value
};

}  // namespace

bool ModuleCall::isSequence() const {
  const auto isNumbered = [this](const ModuleItem& item) {
    if (item.child == nullptr) return false;
    const std::string& inner = item.child->path;
    const std::size_t start = path.empty() ? 0 : path.size() + 1;
    return inner.size() > start && std::all_of(inner.begin() + static_cast<std::ptrdiff_t>(start), inner.end(),
                                               [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  return kind.starts_with("torch.nn.modules.container.") && std::all_of(items.begin(), items.end(), isNumbered);
}

std::vector<ValueId> operandsOf(const Value& node) {
  std::vector<ValueId> operands;
  for (const Argument& argument : node.arguments) addOperands(argument, operands);
  for (const auto& [name, argument] : node.named) addOperands(argument, operands);
  return operands;
}

std::vector<std::size_t> readCounts(const Exported& exported) {
  std::vector<std::size_t> counts(exported.values.size());
  for (const Value& value : exported.values) {
    for (const ValueId operand : operandsOf(value)) ++counts[index(operand)];
  }
  for (const Output& output : exported.outputs) ++counts[index(output.value)];
  return counts;
}

std::unique_ptr<ModuleCall> moduleCalls(const Exported& exported) { return Tree(exported).build(); }

}  // namespace tbem::imports
