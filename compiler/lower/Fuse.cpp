// Fusion: element-wise items over one space become one loop.
//
// Two groups P (earlier) and Q (later) may merge at Q's place where nothing between them needs P, or at P's place where Q needs
// nothing that comes after P. They do where Q reads what P makes (the value then need not be stored), or both read one value.
#include "compiler/lower/Lowering.h"
#include "compiler/lower/order/LateUpdates.h"

#include <algorithm>
#include <limits>

namespace tbem::estimate {

namespace {
constexpr std::size_t kMaxOperands = 24;  ///< of a loop: more would spill registers and thrash the first-level cache
constexpr std::size_t kMaxNodes = 400;
constexpr std::uint64_t kSiblingReach = 12;  ///< how many steps a loop may move to share a read
constexpr std::int64_t kSmall = 1 << 12;     ///< elements up to which a loop's start costs as much as its work: neighbours merge

bool sameSpace(const Item& a, const Item& b) {
  tbem_operand x = a.space;
  tbem_operand y = b.space;
  // Element types may differ (a comparison's bool result): only places count.
  x.dtype = y.dtype = TBEM_F32;
  x.layout.bytes = y.layout.bytes = 0;
  return samePlaces(x, y);
}

class Fuser {
public:
  explicit Fuser(Lowering& s) : state(s), usersOf(s.items.size()), lastReader(s.versions.size(), 0) {
    for (std::uint32_t i = 0; i < state.items.size(); ++i) {
      for (const std::uint32_t before : state.items[i].before) usersOf[before].push_back(i);
      for (const std::uint32_t read : state.items[i].reads) {
        if (read != kNone) lastReader[state.versions[read].root] = std::max(lastReader[state.versions[read].root], i);
      }
    }
  }

  void run() {
    for (std::uint32_t i = 0; i < state.items.size(); ++i) {
      state.groups.push_back({{i}, position++, true});
      state.groupOf.push_back(i);
      if (state.items[i].isLoop && state.options.fuse) tryAll(i);
      if (state.items[i].isLoop) recent.push_back(i);
    }
  }

private:
  void tryAll(std::uint32_t item) {
    // Producers first, nearest last made first: what they made then stays in registers.
    std::vector<std::uint32_t> producers;
    for (const std::uint32_t before : state.items[item].before) {
      if (state.items[before].isLoop && feeds(before, item)) producers.push_back(before);
    }
    std::sort(producers.rbegin(), producers.rend());
    for (const std::uint32_t producer : producers) merge(producer, item, true);
    for (auto at = recent.rbegin(); at != recent.rend() && at - recent.rbegin() < 8; ++at) {
      const bool near = groupAt(item).position - std::min(groupAt(item).position, groupAt(*at).position) <= kSiblingReach;
      const bool bothSmall = isSmall(item) && !isLaunchedTogether(*at) && !isLaunchedTogether(item);
      if (near && (shareRead(*at, item) || bothSmall)) merge(*at, item, isSmall(item));
    }
  }

  Group& groupAt(std::uint32_t item) { return state.groups[state.groupOf[item]]; }
  bool sameGroup(std::uint32_t a, std::uint32_t b) const { return state.groupOf[a] == state.groupOf[b]; }
  bool inGroup(std::uint32_t item, const Group& group) { return &groupAt(item) == &group; }

  /// `to` reads at the same element what `from` writes.
  bool feeds(std::uint32_t from, std::uint32_t to) const {
    const Item& reader = state.items[to];
    for (std::size_t i = 0; i < reader.reads.size(); ++i) {
      if (!reader.sameElement[i]) continue;
      for (const std::uint32_t write : state.items[from].writes) {
        if (state.versions[reader.reads[i]].root == state.versions[write].root) return true;
      }
    }
    return false;
  }

  bool shareRead(std::uint32_t a, std::uint32_t b) const {
    const Item& first = state.items[a];
    const Item& second = state.items[b];
    for (std::size_t i = 0; i < first.reads.size(); ++i) {
      for (std::size_t k = 0; k < second.reads.size(); ++k) {
        if (first.sameElement[i] && second.sameElement[k] &&
            state.versions[first.reads[i]].root == state.versions[second.reads[k]].root)
          return true;
      }
    }
    return false;
  }

  /// Updates on a device: equal loops of any number and any lengths are one launch (jit/glue/LoopGroups.h), which they are no
  /// more when some become one loop.
  bool isLaunchedTogether(std::uint32_t item) const {
    return state.backend.device != nullptr && state.items[item].branch == graph::kAllSamples &&
           isUpdate(state.graph, state.items[item].op);
  }

  bool isSmall(std::uint32_t item) const { return elementCount(state.items[item].space) <= kSmall; }

  /// A forward loop stays out of the backward pass: values would live longer. What each micro-batch does is done apart from what
  /// is done once.
  bool sameSide(std::uint32_t a, std::uint32_t b) const {
    const auto forward = [this](std::uint32_t item) { return state.graph[state.items[item].op].phase == graph::Phase::Forward; };
    return forward(a) == forward(b) && (a < state.once) == (b < state.once);
  }

  bool sameBranch(std::uint32_t a, std::uint32_t b) const {
    return state.items[a].branch == state.items[b].branch && state.items[a].perSample == state.items[b].perSample;
  }

  /// Every value that passes between two items, or is overwritten by one and read by the other, does so at one element.
  bool elementwiseOnly(const Group& first, const Group& second) const {
    for (const std::uint32_t a : first.items) {
      for (const std::uint32_t b : second.items) {
        if (!agree(state.items[a], state.items[b]) || !agree(state.items[b], state.items[a])) return false;
      }
    }
    return true;
  }
  /// `reader` reads nothing at other elements than its own from memory that `writer` writes.
  bool agree(const Item& writer, const Item& reader) const {
    for (const std::uint32_t write : writer.writes) {
      for (std::size_t i = 0; i < reader.reads.size(); ++i) {
        if (!reader.sameElement[i] && state.versions[reader.reads[i]].memory == state.versions[write].memory) return false;
      }
    }
    return true;
  }

  std::size_t operandCount(const Group& a, const Group& b) const {
    std::vector<std::uint32_t> seen;
    std::size_t nodes = 0;
    for (const Group* group : {&a, &b}) {
      for (const std::uint32_t id : group->items) {
        const Item& item = state.items[id];
        nodes += state.graph[item.op].elementwise.nodes.size();
        for (const std::vector<std::uint32_t>* list : {&item.reads, &item.writes}) {
          for (const std::uint32_t version : *list) {
            const std::uint32_t root = state.versions[version].root;
            if (std::find(seen.begin(), seen.end(), root) == seen.end()) seen.push_back(root);
          }
        }
      }
    }
    return nodes > kMaxNodes ? kMaxOperands + 1 : seen.size();
  }

  /// Earliest position of a group that needs something of `group`, `other` left out.
  std::uint64_t firstUser(const Group& group, const Group& other) {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint32_t item : group.items) {
      for (const std::uint32_t user : usersOf[item]) {
        if (user >= state.groupOf.size() || inGroup(user, group) || inGroup(user, other)) continue;
        first = std::min(first, groupAt(user).position);
      }
    }
    return first;
  }
  std::uint64_t lastNeed(const Group& group, const Group& other) {
    std::uint64_t last = 0;
    bool any = false;
    for (const std::uint32_t item : group.items) {
      for (const std::uint32_t before : state.items[item].before) {
        if (inGroup(before, group) || inGroup(before, other)) continue;
        last = std::max(last, groupAt(before).position);
        any = true;
      }
    }
    return any ? last + 1 : 0;  // 0: needs nothing
  }

  /// Sinking `group` to item `to` keeps its operands alive until then; it must save about as many bytes of results (vectors of
  /// statistics beside an image do not count).
  bool sinkingPays(const Group& group, const Group& into, std::uint32_t to) {
    std::uint64_t longer = 0;
    std::uint64_t saved = 0;
    for (const std::uint32_t item : group.items) {
      for (const std::uint32_t read : state.items[item].reads) {
        const Version& version = state.versions[read];
        if (!state.memories[version.memory].persistent && lastReader[version.root] < to) longer += version.operand.layout.bytes;
      }
      for (const std::uint32_t write : state.items[item].writes) {
        const bool inside = std::all_of(usersOf[item].begin(), usersOf[item].end(), [&](std::uint32_t user) {
          return user < state.groupOf.size() && (inGroup(user, group) || inGroup(user, into));
        });
        if (inside) saved += state.versions[write].operand.layout.bytes;
      }
    }
    return longer <= saved + saved / 8;
  }

  /// `maySink`: the earlier one may move to the later one's place, not only the other way round.
  void merge(std::uint32_t a, std::uint32_t b, bool maySink) {
    if (sameGroup(a, b) || !sameSpace(state.items[a], state.items[b]) || !sameSide(a, b) || !sameBranch(a, b)) return;
    const bool ordered = groupAt(a).position < groupAt(b).position;
    Group& early = ordered ? groupAt(a) : groupAt(b);
    Group& late = ordered ? groupAt(b) : groupAt(a);
    if (operandCount(early, late) > kMaxOperands || !elementwiseOnly(early, late)) return;
    // Adjacent in effect: hoist the later one where its needs allow; else sink the earlier one.
    if (lastNeed(late, early) <= early.position) {
      join(early, late, early.position);
    } else if (maySink && firstUser(early, late) > late.position && (isSmall(a) || sinkingPays(early, late, late.items.back()))) {
      join(early, late, late.position);
    }
  }

  void join(Group& into, Group& from, std::uint64_t at) {
    for (const std::uint32_t item : from.items) state.groupOf[item] = static_cast<std::uint32_t>(&into - state.groups.data());
    into.items.insert(into.items.end(), from.items.begin(), from.items.end());
    std::sort(into.items.begin(), into.items.end());
    into.position = at;
    from.items.clear();
    from.alive = false;
  }

  Lowering& state;
  std::vector<std::vector<std::uint32_t>> usersOf;
  std::vector<std::uint32_t> lastReader;  ///< by root version: the last item, in program order, that reads it
  std::vector<std::uint32_t> recent;
  std::uint64_t position = 0;
};

/// Nodes of one loop, equal ones shared.
class LoopBuilder {
public:
  LoopBuilder(Lowering& s, FusedLoop& l) : state(s), loop(l) {}

  /// Copies the operator's nodes behind those that are there; `operand(i)` gives the node of operand i.
  template <class Operand>
  bool add(const graph::Op& op, Operand operand, std::vector<std::uint32_t>& roots) {
    std::vector<std::uint32_t> at(op.elementwise.nodes.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      graph::ElemNode node = op.elementwise.nodes[i];
      if (node.op == graph::ElemOp::Input) {
        at[i] = operand(node.input);
        continue;
      }
      if (node.op == graph::ElemOp::Scalar && !resolve(op, node)) return false;
      const bool leaf = node.op == graph::ElemOp::Constant || node.op == graph::ElemOp::Scalar ||
                        node.op == graph::ElemOp::Random || node.op == graph::ElemOp::Index;
      node.a = leaf ? 0 : at[node.a];
      node.b = leaf || graph::operandCount(node.op) < 2 ? 0 : at[node.b];
      node.c = leaf || graph::operandCount(node.op) < 3 ? 0 : at[node.c];
      if (node.op == graph::ElemOp::Cast && node.dtype < 0) node.dtype = resultType(op, static_cast<std::uint32_t>(i));
      at[i] = shared(node);
    }
    for (std::size_t r = 0; r < op.elementwise.roots.size(); ++r) {
      const std::int32_t dtype = state.graph[op.outputs[r]].dtype;
      const bool keepsType = dtype == TBEM_F64 || dtype == TBEM_F32 || dtype == TBEM_BOOL;
      // A value that is not stored is still rounded to its type before the next operator reads it.
      roots.push_back(keepsType ? at[op.elementwise.roots[r]]
                                : shared({.op = graph::ElemOp::Cast, .a = at[op.elementwise.roots[r]], .dtype = dtype}));
    }
    return true;
  }

  std::uint32_t input(std::uint32_t version, const std::vector<std::int32_t>& axes) {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (state.versions[reads[i]].root == state.versions[version].root &&
          samePlaces(state.versions[reads[i]].operand, state.versions[version].operand) && loop.inputs[i].axes == axes) {
        return inputNode(static_cast<std::uint32_t>(i));
      }
    }
    loop.inputs.push_back({kNoBuffer, axes});
    reads.push_back(version);
    return inputNode(static_cast<std::uint32_t>(reads.size() - 1));
  }

  std::vector<std::uint32_t> reads;  ///< version of each input of the loop

private:
  std::int32_t resultType(const graph::Op& op, std::uint32_t node) const {
    for (std::size_t r = 0; r < op.elementwise.roots.size(); ++r) {
      if (op.elementwise.roots[r] == node) return state.graph[op.outputs[r]].dtype;
    }
    return state.graph[op.outputs[0]].dtype;
  }

  std::uint32_t inputNode(std::uint32_t input) {
    graph::ElemNode node;
    node.op = graph::ElemOp::Input;
    node.input = input;
    return shared(node);
  }

  /// An argument of the step keeps its slot; any other number of the row becomes a constant.
  bool resolve(const graph::Op& op, graph::ElemNode& node) {
    const sema::ExprId id = node.scalar;
    const bool isArgument = id == state.values.step || std::any_of(state.graph.scalars.begin(), state.graph.scalars.end(),
                                                                   [id](const auto& s) { return s.value == id; });
    node.scalar = sema::kNoExpr;
    if (isArgument || id == sema::kNoExpr || state.values.errorOf(id) != sema::EvalError::None) {
      node.input = state.scalarSlot(id, op.range);
      return !state.error;
    }
    node.op = graph::ElemOp::Constant;
    node.value = state.values[id];
    return true;
  }

  std::uint32_t append(const graph::ElemNode& node) {
    loop.nodes.push_back(node);
    return static_cast<std::uint32_t>(loop.nodes.size() - 1);
  }
  std::uint32_t shared(const graph::ElemNode& node) {
    for (std::uint32_t i = 0; i < loop.nodes.size(); ++i) {
      const graph::ElemNode& other = loop.nodes[i];
      if (other.op == node.op && other.a == node.a && other.b == node.b && other.c == node.c && other.input == node.input &&
          other.value == node.value && other.scalar == node.scalar && other.stream == node.stream && other.dtype == node.dtype) {
        return i;
      }
    }
    return append(node);
  }

  Lowering& state;
  FusedLoop& loop;
};
}  // namespace

void Lowering::fuse() {
  groups.reserve(items.size());
  Fuser(*this).run();
}

/// `stored`: by root version, whether anything outside the group reads it. `reads` and `writes`: the versions of the loop's
/// inputs and outputs.
bool Lowering::buildLoop(const Group& group, const std::vector<bool>& stored, FusedLoop& loop, std::vector<std::uint32_t>& reads,
                         std::vector<std::uint32_t>& writes) {
  const Item& first = items[group.items.front()];
  loop.dims.assign(first.space.dims, first.space.dims + first.space.rank);
  loop.layout = first.space.layout;
  loop.perSample = first.perSample;
  if (loop.perSample) loop.samples = samplesIn[first.branch];
  LoopBuilder builder(*this, loop);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> made;  // root version, node
  for (const std::uint32_t id : group.items) {
    const Item& item = items[id];
    const graph::Op& op = graph[item.op];
    const auto operand = [&](std::uint32_t i) {
      const std::uint32_t version = item.reads[i];
      const auto inside =
          std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.first == versions[version].root; });
      return inside != made.end() ? inside->second : builder.input(version, op.elementwise.operands[i].axes);
    };
    std::vector<std::uint32_t> roots;
    if (!builder.add(op, operand, roots)) return false;
    for (std::size_t r = 0; r < roots.size(); ++r) made.emplace_back(item.writes[r], roots[r]);
  }
  for (auto one = made.begin(); one != made.end(); ++one) {
    const std::uint32_t version = one->first, node = one->second;
    if (!stored[version]) continue;
    // A buffer that is moved twice, as by a normalisation that is applied twice: who reads it in between is in this loop.
    const bool isOverwritten = std::any_of(one + 1, made.end(), [&](const auto& later) {
      return versions[later.first].memory == versions[version].memory && !versions[version].window &&
             samePlaces(versions[later.first].operand, versions[version].operand);
    });
    if (isOverwritten) continue;
    loop.outputs.push_back({kNoBuffer, node});
    writes.push_back(version);
  }
  reads = std::move(builder.reads);
  return true;
}

}  // namespace tbem::estimate
