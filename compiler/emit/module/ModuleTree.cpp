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
  if (item.arms != nullptr) {
    tensors = graph[item.op].inputs;
    tensors.insert(tensors.end(), item.arms->operands.begin(), item.arms->operands.end());
    tensors.insert(tensors.end(), item.arms->captured.begin(), item.arms->captured.end());
    return tensors;
  }
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
  if (item.arms != nullptr) return {item.arms->joined};
  return item.call != nullptr ? tensorsOf(item.call->result) : graph[item.op].outputs;
}

namespace {

class TreeBuilder {
public:
  TreeBuilder(const ModuleSource& source, const IsKnown& isKnown)
      : source(source), graph(source.graph), calls(source.calls), isKnown(isKnown) {
    for (const graph::Storage& storage : graph.storages) {
      if (isOfModule(storage)) partPaths.insert(storage.path);
    }
    for (const graph::Op& op : graph.ops) {
      if (op.kind == graph::OpKind::Skip || op.kind == graph::OpKind::Exit) partPaths.insert(op.path);
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
    open.push_back(made.get());
    addItems(at, made->items);
    open.pop_back();
    if (!made->isTurn()) made->outputs = tensorsOf(calls[at].result);
    return made;
  }
  std::optional<Refusal> refusal;

private:
  /// What is written next of a call.
  struct Cursor {
    std::uint32_t op = 0;
    std::size_t part = 0;  ///< of the calls inside
  };
  /// An operator that ends the steps at hand; a call without operators that stands there is one of them if it gives this.
  struct Limit {
    std::uint32_t op = 0;
    std::optional<TensorId> given;  ///< nothing: any
  };

  /// Whether weights or gates lie at or under the path.
  bool hasParts(const std::string& path) const {
    if (path.empty()) return !partPaths.empty();
    const auto first = partPaths.lower_bound(path + ".");
    return first != partPaths.end() && first->starts_with(path + ".");
  }
  /// Of the loop that this is a turn of: all turns are modules, or none, so that each has its number in the list.
  bool hasPartsInAnyTurn(const std::string& turn) const {
    const std::string loop = turn.substr(0, turn.rfind('[') + 1);
    const auto first = partPaths.lower_bound(loop);
    return first != partPaths.end() && first->starts_with(loop);
  }
  bool isModule(const Call& call) const {
    if (call.decl == nullptr) return hasPartsInAnyTurn(call.path);
    return call.decl->callable != ast::CallableKind::Operator || hasParts(call.path);
  }

  static bool isWithin(const Call& call, const Limit& limit) {
    if (call.first < limit.op || call.end < limit.op) return call.end <= limit.op;
    if (call.end > limit.op) return false;
    if (!limit.given) return true;
    const std::vector<TensorId> results = tensorsOf(call.result);
    return results.size() == 1 && results.front() == *limit.given;
  }

  /// The steps of a call, or of what is written out in it, in the order of the graph.
  void addItems(std::uint32_t at, std::vector<ModuleItem>& into) {
    Cursor cursor{calls[at].first, 0};
    addUntil(at, cursor, {calls[at].end, {}}, into);
  }
  void addUntil(std::uint32_t at, Cursor& cursor, const Limit& limit, std::vector<ModuleItem>& into) {
    while (true) {
      const bool isPart = cursor.part < inside[at].size() && isWithin(calls[inside[at][cursor.part]], limit);
      if (isPart && calls[inside[at][cursor.part]].first <= cursor.op) {
        const std::uint32_t part = inside[at][cursor.part++];
        addCall(part, into);
        cursor.op = calls[part].end;
      } else if (cursor.op >= limit.op) {
        return;
      } else if (source.armsApart && graph.ops[cursor.op].kind == graph::OpKind::Skip) {
        addArms(at, cursor, into);
      } else {
        ModuleItem item;
        item.op = static_cast<OpId>(cursor.op++);
        into.push_back(std::move(item));
      }
    }
  }

  /// A `skip`, its arms and what joins them.
  void addArms(std::uint32_t at, Cursor& cursor, std::vector<ModuleItem>& into) {
    const auto gate = static_cast<OpId>(cursor.op++);
    const auto isJoin = [&](const graph::Op& op) { return op.kind == graph::OpKind::Join && op.gate == gate; };
    const auto begin = graph.ops.begin() + cursor.op;
    const auto join = std::find_if(begin, graph.ops.end(), isJoin);
    const std::uint32_t secondRegion = graph::index(graph[gate].regions[1]);
    const auto second = std::find_if(begin, join, [&](const graph::Op& op) { return graph::index(op.region) >= secondRegion; });
    ModuleItem item;
    item.op = gate;
    item.arms = std::make_unique<GateArms>();
    item.arms->joined = join->outputs.front();
    for (std::size_t arm = 0; arm < 2; ++arm) item.arms->list[arm].output = join->inputs[arm + 1];
    addUntil(at, cursor, {static_cast<std::uint32_t>(second - graph.ops.begin()), item.arms->list[0].output},
             item.arms->list[0].items);
    addUntil(at, cursor, {static_cast<std::uint32_t>(join - graph.ops.begin()), {}}, item.arms->list[1].items);
    ++cursor.op;
    into.push_back(std::move(item));
  }

  void addCall(std::uint32_t at, std::vector<ModuleItem>& into) {
    const Call& call = calls[at];
    const bool known = call.decl != nullptr && isKnown(call);
    if (!known && !isModule(call)) {
      addItems(at, into);
      return;
    }
    ModuleItem item;
    if (known) {
      item.call = &call;
    } else {
      item.child = node(at);
    }
    item.isLent = hasParts(call.path) && mustBeLent(call, item);
    into.push_back(std::move(item));
  }

  /// A module's weights lie under its own name, in the module that calls it or that lends it.
  bool mustBeLent(const Call& call, const ModuleItem& item) {
    const std::string& path = call.path;
    const std::size_t dot = path.rfind('.');
    const std::string owner = dot == std::string::npos ? "" : path.substr(0, dot);
    if (owner == open.back()->call->path) return false;
    const auto holder =
        std::find_if(open.rbegin(), open.rend(), [&](const ModuleNode* outer) { return outer->call->path == owner; });
    if (!source.lends || holder == open.rend()) {
      if (!refusal)
        refusal = Refusal{call.use, "`" + path + "`",
                          "Its weights belong to another block than the one that applies it, and a module of a framework is "
                          "called by the module that owns it."};
      return false;
    }
    std::vector<HeldModule>& held = (*holder)->held;
    if (std::none_of(held.begin(), held.end(), [&](const HeldModule& one) { return one.path == path; }))
      held.push_back({path, item.call, item.child.get()});
    for (auto borrower = open.rbegin(); borrower != holder; ++borrower) {
      std::vector<std::string>& borrowed = (*borrower)->borrowed;
      if (std::find(borrowed.begin(), borrowed.end(), path) == borrowed.end()) borrowed.push_back(path);
    }
    return true;
  }

  const ModuleSource& source;
  const graph::Graph& graph;
  const std::vector<Call>& calls;
  const IsKnown& isKnown;
  std::set<std::string, std::less<>> partPaths;    ///< of weights and gates
  std::vector<std::vector<std::uint32_t>> inside;  ///< by call
  std::vector<ModuleNode*> open;                   ///< those that are being made, an inner one behind the outer
};

/// Which tensors go into each module and, of turns, come out.
class DataFlow {
public:
  explicit DataFlow(const ModuleSource& source) : source(source), graph(source.graph) {}

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

  /// All that is made inside of a node, at any depth. What stands in an arm is read there alone.
  const std::set<TensorId>& madeIn(const ModuleNode& node) {
    const auto [known, isNew] = made.try_emplace(&node);
    if (isNew) {
      std::set<TensorId> all;
      for (const ModuleItem& item : node.items) addMade(item, all);
      made[&node] = std::move(all);
    }
    return made[&node];
  }
  void addMade(const ModuleItem& item, std::set<TensorId>& all) {
    if (item.child != nullptr) {
      const std::set<TensorId>& inside = madeIn(*item.child);
      all.insert(inside.begin(), inside.end());
    } else {
      for (const TensorId tensor : madeBy(graph, item)) all.insert(tensor);
    }
  }

  void inputsOf(ModuleNode& node) {
    node.inputs.clear();
    if (!node.isTurn()) {
      for (const Value& tensor : node.call->tensors) {
        for (const TensorId part : tensorsOf(tensor)) addOnce(node.inputs, part);
      }
    }
    std::set<TensorId> own;  // so far: what an exit gives on, it is given
    const auto read = [&](TensorId tensor) {
      if (!own.contains(tensor) && !isOwnWeight(node, tensor)) addOnce(node.inputs, tensor);
    };
    for (ModuleItem& item : node.items) {
      if (item.child != nullptr) inputsOf(*item.child);
      if (item.arms != nullptr) inputsOf(node, *item.arms);
      for (const TensorId tensor : readBy(graph, item)) read(tensor);
      addMade(item, own);
    }
    for (const TensorId tensor : node.outputs) read(tensor);  // of a module that gives on what it is given
  }

  /// What the arms of a gate read.
  void inputsOf(const ModuleNode& node, GateArms& arms) {
    arms.operands.clear();
    arms.captured.clear();
    for (GateArm& arm : arms.list) {
      std::set<TensorId> own;
      const auto read = [&](TensorId tensor) {
        if (own.contains(tensor) || isOwnWeight(node, tensor)) return;
        addOnce(source.hasSamples[graph::index(tensor)] != 0 ? arms.operands : arms.captured, tensor);
      };
      for (ModuleItem& item : arm.items) {
        if (item.child != nullptr) inputsOf(*item.child);
        for (const TensorId tensor : readBy(graph, item)) read(tensor);
        addMade(item, own);
      }
      read(arm.output);
    }
  }

  void outputsOf(ModuleNode& node) {
    for (std::size_t at = 0; at < node.items.size(); ++at) {
      if (const GateArms* const arms = node.items[at].arms.get()) {
        for (const GateArm& arm : arms->list) {
          for (const ModuleItem& item : arm.items) {
            if (item.child != nullptr) outputsOf(*item.child);
          }
        }
      }
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

  const ModuleSource& source;
  const graph::Graph& graph;
  std::map<const ModuleNode*, std::set<TensorId>> made;
};

}  // namespace

tl::expected<std::unique_ptr<ModuleNode>, Refusal> moduleTree(const ModuleSource& source, std::uint32_t root,
                                                              const IsKnown& isKnown) {
  TreeBuilder builder(source, isKnown);
  std::unique_ptr<ModuleNode> tree = builder.node(root);
  if (builder.refusal) return tl::unexpected(*builder.refusal);
  std::vector<ModuleItem> items(source.begin.size());
  for (std::size_t k = 0; k < items.size(); ++k) items[k].op = source.begin[k];
  tree->items.insert(tree->items.begin(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  DataFlow(source).find(*tree);
  return tree;
}

}  // namespace tbem::emit
