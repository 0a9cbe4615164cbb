#include "compiler/emit/module/ModuleTree.h"

#include <algorithm>
#include <map>
#include <set>

namespace tbem::emit {

using graph::Call;
using graph::OpId;
using graph::TensorId;
using sema::Value;
using sema::ValueKind;

std::vector<TensorId> tensorsOf(const Value& value) {
  if (value.is(ValueKind::Tensor)) return {static_cast<TensorId>(value.id)};
  std::vector<TensorId> tensors;
  if (value.is(ValueKind::List) || value.is(ValueKind::Tuple)) {
    for (const Value& item : value.items) {
      const std::vector<TensorId> inside = tensorsOf(item);
      tensors.insert(tensors.end(), inside.begin(), inside.end());
    }
  }
  return tensors;
}

std::pair<std::string, std::int64_t> lastName(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
  const std::size_t bracket = name.find('[');
  if (bracket == std::string_view::npos) return {std::string(name), -1};
  return {std::string(name.substr(0, bracket)), std::stoll(std::string(name.substr(bracket + 1)))};
}

bool isOfModule(const graph::Storage& storage) {
  return storage.kind == graph::StorageClass::Weight || storage.kind == graph::StorageClass::Buffer;
}

std::string_view weightPath(const graph::Graph& graph, TensorId tensor) {
  const graph::Storage& storage = graph[graph[tensor].storage];
  return isOfModule(storage) ? std::string_view(storage.path) : std::string_view();
}

std::vector<TensorId> readBy(const graph::Graph& graph, const ModuleItem& item) {
  if (item.child != nullptr) return item.child->inputs;
  std::vector<TensorId> tensors;
  if (item.call != nullptr) {
    for (const Value& tensor : item.call->tensors) {
      const std::vector<TensorId> inside = tensorsOf(tensor);
      tensors.insert(tensors.end(), inside.begin(), inside.end());
    }
    return tensors;
  }
  for (const TensorId input : graph[item.op].inputs) {
    if (input != graph::kNoTensor) tensors.push_back(input);
  }
  return tensors;
}

std::vector<TensorId> madeBy(const graph::Graph& graph, const ModuleItem& item) {
  if (item.child != nullptr) return item.child->outputs;
  return item.call != nullptr ? tensorsOf(item.call->result) : graph[item.op].outputs;
}

namespace {

class TreeBuilder {
public:
  TreeBuilder(const ModuleSource& source, const IsKnown& isKnown) : graph(source.graph), calls(source.calls), isKnown(isKnown) {
    for (const graph::Storage& storage : graph.storages) {
      if (isOfModule(storage)) weightPaths.insert(storage.path);
    }
    inside.resize(calls.size());
    for (std::uint32_t at = 0; at < calls.size(); ++at) {
      if (calls[at].parent != graph::kNoCall) inside[calls[at].parent].push_back(at);
    }
  }

  std::unique_ptr<ModuleNode> node(std::uint32_t at) {
    auto made = std::make_unique<ModuleNode>();
    made->call = &calls[at];
    std::uint32_t holder = at;
    while (calls[holder].decl == nullptr) holder = calls[holder].parent;
    made->decl = calls[holder].decl;
    std::tie(made->attribute, made->turn) = lastName(calls[at].path);
    addItems(at, *made);
    if (!made->isTurn()) made->outputs = tensorsOf(calls[at].result);
    return made;
  }
  std::optional<Refusal> refusal;

private:
  /// Whether weights lie at or under the path.
  bool hasWeights(const std::string& path) const {
    if (path.empty()) return !weightPaths.empty();
    const auto first = weightPaths.lower_bound(path + ".");
    return first != weightPaths.end() && first->starts_with(path + ".");
  }
  /// Of the loop that this is a turn of: all turns are modules, or none, so that each has its number in the list.
  bool hasWeightsInAnyTurn(const std::string& turn) const {
    const std::string loop = turn.substr(0, turn.rfind('[') + 1);
    const auto first = weightPaths.lower_bound(loop);
    return first != weightPaths.end() && first->starts_with(loop);
  }
  bool isModule(const Call& call) const {
    if (call.decl == nullptr) return hasWeightsInAnyTurn(call.path);
    return call.decl->callable != ast::CallableKind::Operator || hasWeights(call.path);
  }

  /// The steps of a call, or of what is written out in it, in the order of the graph.
  void addItems(std::uint32_t at, ModuleNode& into) {
    std::uint32_t op = calls[at].first;
    const auto addOps = [&](std::uint32_t end) {
      for (; op < end; ++op) {
        ModuleItem item;
        item.op = static_cast<OpId>(op);
        into.items.push_back(std::move(item));
      }
    };
    for (const std::uint32_t part : inside[at]) {
      addOps(calls[part].first);
      addCall(part, into);
      op = calls[part].end;
    }
    addOps(calls[at].end);
  }

  void addCall(std::uint32_t at, ModuleNode& into) {
    const Call& call = calls[at];
    const bool known = call.decl != nullptr && isKnown(call);
    if (!known && !isModule(call)) {
      addItems(at, into);
      return;
    }
    if (hasWeights(call.path)) mustLieIn(call, *into.call);
    ModuleItem item;
    if (known) {
      item.call = &call;
    } else {
      item.child = node(at);
    }
    into.items.push_back(std::move(item));
  }

  /// A module's weights lie under its own name, in the module that calls it.
  void mustLieIn(const Call& call, const Call& holder) {
    const std::string prefix = holder.path.empty() ? "" : holder.path + ".";
    const bool direct = call.path.starts_with(prefix) && call.path.find('.', prefix.size()) == std::string::npos;
    if (direct || refusal) return;
    refusal = Refusal{call.use, "`" + call.path + "`",
                      "Its weights belong to another block than the one that applies it, and a module of a framework is called "
                      "by the module that owns it."};
  }

  const graph::Graph& graph;
  const std::vector<Call>& calls;
  const IsKnown& isKnown;
  std::set<std::string, std::less<>> weightPaths;
  std::vector<std::vector<std::uint32_t>> inside;  ///< by call
};

/// Which tensors go into each module and, of turns, come out.
class DataFlow {
public:
  explicit DataFlow(const graph::Graph& graph) : graph(graph) {}

  void find(ModuleNode& root) {
    inputsOf(root);
    outputsOf(root);
    inputsOf(root);  // of modules in turns, whose results are known now
  }

private:
  using Tensors = std::vector<TensorId>;
  static void addOnce(Tensors& all, TensorId tensor) {
    if (std::find(all.begin(), all.end(), tensor) == all.end()) all.push_back(tensor);
  }
  bool isOwnWeight(const ModuleNode& node, TensorId tensor) const {
    const std::string_view path = weightPath(graph, tensor);
    return !path.empty() && (node.call->path.empty() || path.starts_with(node.call->path + "."));
  }

  /// All that is made inside of a node, at any depth.
  const std::set<TensorId>& madeIn(const ModuleNode& node) {
    const auto [known, isNew] = made.try_emplace(&node);
    if (isNew) {
      std::set<TensorId> all;
      for (const ModuleItem& item : node.items) {
        if (item.child != nullptr) {
          const std::set<TensorId>& inside = madeIn(*item.child);
          all.insert(inside.begin(), inside.end());
        } else {
          for (const TensorId tensor : madeBy(graph, item)) all.insert(tensor);
        }
      }
      made[&node] = std::move(all);
    }
    return made[&node];
  }

  void inputsOf(ModuleNode& node) {
    node.inputs.clear();
    if (!node.isTurn()) {
      for (const Value& tensor : node.call->tensors) {
        for (const TensorId part : tensorsOf(tensor)) addOnce(node.inputs, part);
      }
    }
    const std::set<TensorId>& own = madeIn(node);
    for (ModuleItem& item : node.items) {
      if (item.child != nullptr) inputsOf(*item.child);
      for (const TensorId tensor : readBy(graph, item)) {
        if (!own.contains(tensor) && !isOwnWeight(node, tensor)) addOnce(node.inputs, tensor);
      }
    }
    for (const TensorId tensor : node.outputs) {  // of a module that gives on what it is given
      if (!own.contains(tensor) && !isOwnWeight(node, tensor)) addOnce(node.inputs, tensor);
    }
  }

  void outputsOf(ModuleNode& node) {
    for (std::size_t at = 0; at < node.items.size(); ++at) {
      ModuleNode* const child = node.items[at].child.get();
      if (child == nullptr) continue;
      if (child->isTurn()) {
        std::set<TensorId> wanted(node.outputs.begin(), node.outputs.end());
        for (std::size_t later = at + 1; later < node.items.size(); ++later) {
          for (const TensorId tensor : readBy(graph, node.items[later])) wanted.insert(tensor);
        }
        child->outputs.clear();
        for (const TensorId tensor : madeIn(*child)) {
          if (wanted.contains(tensor)) child->outputs.push_back(tensor);
        }
      }
      outputsOf(*child);
    }
  }

  const graph::Graph& graph;
  std::map<const ModuleNode*, std::set<TensorId>> made;
};

}  // namespace

tl::expected<std::unique_ptr<ModuleNode>, Refusal> moduleTree(const ModuleSource& source, std::uint32_t root,
                                                              const IsKnown& isKnown) {
  TreeBuilder builder(source, isKnown);
  std::unique_ptr<ModuleNode> tree = builder.node(root);
  if (builder.refusal) return tl::unexpected(*builder.refusal);
  DataFlow(source.graph).find(*tree);
  return tree;
}

}  // namespace tbem::emit
