#include "compiler/emit/python/Modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tbem::emit {

using graph::TensorId;

namespace {

/// What an exit makes, it is given, behind its condition and its value.
void markGate(const graph::Op& op, Step& step) {
  step.isGate = op.kind == graph::OpKind::Skip || op.kind == graph::OpKind::Exit;
  if (op.kind == graph::OpKind::Exit) step.takesOver.assign(op.inputs.begin() + 2, op.inputs.end());
}
bool hasHoles(const CallText& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(), [](const Argument& argument) {
    const std::vector<Mark> marks = marksOf(argument.text);
    return std::any_of(marks.begin(), marks.end(), [](const Mark& mark) { return !mark.tensor; });
  });
}

/// Step::carried of the turns, the first of which is the item `at` of the node. Empty where a turn's result is read behind the
/// next one, or turns are called in different ways.
std::vector<std::int64_t> carriedBetween(const graph::Graph& graph, const ModuleNode& node, std::size_t at,
                                         const std::vector<const ModuleNode*>& turns) {
  const std::size_t inputs = turns.front()->inputs.size(), outputs = turns.front()->outputs.size();
  if (outputs == 0 || inputs == 0) return {};
  for (const ModuleNode* turn : turns) {
    if (turn->inputs.size() != inputs || turn->outputs.size() != outputs || turn->borrowed != turns.front()->borrowed) return {};
  }
  std::vector<std::int64_t> carried(inputs, -1);
  for (std::size_t p = 0; p < inputs; ++p) {
    if (turns.size() == 1) carried[p] = p < outputs ? static_cast<std::int64_t>(p) : -1;
    for (std::size_t k = 1; k < turns.size(); ++k) {
      const std::vector<TensorId>& before = turns[k - 1]->outputs;
      const auto from = std::find(before.begin(), before.end(), turns[k]->inputs[p]);
      const std::int64_t source = from == before.end() ? -1 : from - before.begin();
      if (source < 0 && turns[k]->inputs[p] != turns.front()->inputs[p]) return {};
      if (k > 1 && source != carried[p]) return {};
      carried[p] = source;
    }
  }
  // Each result has to go into the next turn, or the last one's alone would be there behind the loop.
  std::set<TensorId> readLater(node.outputs.begin(), node.outputs.end());
  for (std::size_t later = at + turns.size(); later < node.items.size(); ++later) {
    for (const TensorId tensor : readBy(graph, node.items[later])) readLater.insert(tensor);
  }
  for (std::size_t k = 0; k + 1 < turns.size(); ++k) {
    const std::vector<TensorId>& next = turns[k + 1]->outputs;
    const auto isMadeAgain = [&](TensorId result) { return std::find(next.begin(), next.end(), result) != next.end(); };
    for (const TensorId result : turns[k]->outputs) {
      if (readLater.contains(result) && !isMadeAgain(result)) return {};
    }
    for (std::size_t further = k + 2; further < turns.size(); ++further) {
      for (const TensorId input : turns[further]->inputs) {
        const auto& results = turns[k]->outputs;
        if (std::find(results.begin(), results.end(), input) != results.end() && !isMadeAgain(input)) return {};
      }
    }
  }
  for (std::size_t r = 0; r < outputs; ++r) {  // a result without a place among the operands has no name to be carried by
    if (std::find(carried.begin(), carried.end(), static_cast<std::int64_t>(r)) == carried.end()) return {};
  }
  return carried;
}

/// A module's own weights; what cannot be one of them.
std::optional<Refusal> addWeights(const graph::Graph& graph, const Dialect& dialect, const ModuleNode& node, Module& module) {
  std::optional<Refusal> refusal;
  const std::string prefix = node.call->path.empty() ? "" : node.call->path + ".";
  Scribe scribe(module.holes);
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tensor.producer != graph::kNoOp) continue;
    const graph::Storage& storage = graph[tensor.storage];
    if (!isOfModule(storage) || !storage.path.starts_with(prefix)) continue;
    const std::string name = storage.path.substr(prefix.size());
    if (name.find('.') != std::string::npos || name.find('[') != std::string::npos) continue;
    if (storage.kind == graph::StorageClass::Buffer && !refusal)
      refusal = Refusal{tensor.range, "the buffer `" + storage.path + "`",
                        "Buffers of a network's own have no form in this program yet."};
    module.weights.emplace_back(pythonName(name, dialect.taken), dialect.weight(tensor, scribe));
  }
  return refusal;
}

class ModuleReader {
public:
  ModuleReader(const graph::Graph& graph, const ModuleNode& root, const Dialect& dialect, std::vector<Module>& modules)
      : graph(graph), root(root), dialect(dialect), modules(modules) {}

  /// The position of the module, behind those inside of it.
  std::size_t read(const ModuleNode& node) {
    Module module;
    module.node = &node;
    if (const std::optional<Refusal> wrong = addWeights(graph, dialect, node, module); wrong && !refusal) refusal = wrong;
    const std::map<TensorId, TensorId> outside = std::exchange(now, {});
    for (std::size_t at = 0; at < node.items.size() && !refusal;) at = addStep(node, node.items, at, module);
    if (&node == &root && dialect.result) addResults(module);
    for (const HeldModule& held : node.held) {
      if (!refusal) addHeld(held, module);
    }
    for (const TensorId output : node.outputs) module.outputs.push_back(known(output));
    now = outside;
    modules.push_back(std::move(module));
    positions[&node] = modules.size() - 1;
    return modules.size() - 1;
  }
  std::optional<Refusal> refusal;

private:
  TensorId known(TensorId tensor) const {
    const auto alias = now.find(tensor);
    return alias == now.end() ? tensor : alias->second;
  }
  Marked known(const Marked& marked) const {
    return filled(marked, [&](const Mark& mark) {
      return mark.tensor ? Scribe::operand(known(*mark.tensor), mark.least) : marked.substr(mark.begin, mark.end - mark.begin);
    });
  }

  /// Adds a step, whose tensors are those of the graph, with the names that they have by now.
  void add(Step step, Module& module) {
    std::vector<TensorId> given = operandsOf(step);
    for (TensorId& operand : step.operands) operand = known(operand);
    for (TensorId& operand : step.takesOver) operand = known(operand);
    if (step.arms) {
      for (TensorId& operand : step.arms->operands) operand = known(operand);
      for (TensorId& operand : step.arms->captured) operand = known(operand);
    }
    step.code.text = known(step.code.text);
    for (Argument& argument : step.code.call.arguments) argument.text = known(argument.text);
    for (TensorId& result : step.results) {
      if (std::find(given.begin(), given.end(), result) == given.end()) continue;
      const auto alias = static_cast<TensorId>(graph.tensors.size() + aliasCount++);
      module.aliases[alias] = result;
      now[result] = alias;
      result = alias;
    }
    module.steps.push_back(std::move(step));
  }

  void addResults(Module& module) {
    for (const TensorId output : root.outputs) {
      Scribe scribe(module.holes);
      std::optional<Code> code = dialect.result(output, scribe);
      if (!code) continue;
      Step step;
      step.results = {output};
      step.code = std::move(*code);
      add(std::move(step), module);
    }
  }

  std::size_t addStep(const ModuleNode& node, const std::vector<ModuleItem>& items, std::size_t at, Module& module) {
    const ModuleItem& item = items[at];
    Step step;
    step.results = madeBy(graph, item);
    if (item.child != nullptr) {
      if (item.child->isTurn()) return addLoop(node, at, module);
      step.operands = item.child->inputs;
      step.lent = item.child->borrowed;
      const std::size_t position = read(*item.child);
      if (item.isLent) {
        step.borrowed = item.child->call->path;
      } else {
        step.attribute = pythonName(item.child->attribute, dialect.taken);
        step.modules.push_back(position);
      }
      add(std::move(step), module);
      return at + 1;
    }
    const std::size_t first = module.holes.size();
    Scribe scribe(module.holes);
    tl::expected<Code, Refusal> code =
        item.call != nullptr ? dialect.call(*item.call, scribe) : dialect.op(graph[item.op], scribe);
    if (!code) {
      if (!refusal) refusal = code.error();
      return at + 1;
    }
    step.code = std::move(*code);
    if (item.isLent) {
      step.borrowed = item.call->path;
      step.code.module.reset();
      if (!hasHoles(step.code.call)) module.holes.resize(first);  // they were the constructor's
    } else if (step.code.module) {
      const std::string& path = item.call != nullptr ? item.call->path : graph[item.op].path;
      step.attribute = pythonName(lastName(path).first, dialect.taken);
    }
    for (std::size_t hole = first; hole < module.holes.size(); ++hole) step.holes.push_back(hole);
    if (item.op != graph::kNoOp) markGate(graph[item.op], step);
    if (item.arms != nullptr) {
      addArms(node, *item.arms, std::move(step), module);
    } else {
      add(std::move(step), module);
    }
    return at + 1;
  }
  /// A gate whose arms are functions, and the steps of these behind it.
  void addArms(const ModuleNode& node, const GateArms& arms, Step gate, Module& module) {
    gate.arms.emplace();
    gate.arms->operands = arms.operands;
    gate.arms->captured = arms.captured;
    add(std::move(gate), module);
    const std::size_t place = module.steps.size() - 1;
    for (std::size_t arm = 0; arm < 2; ++arm) {
      const std::size_t begin = module.steps.size();
      const std::map<TensorId, TensorId> outside = now;
      const std::vector<ModuleItem>& items = arms.list[arm].items;
      for (std::size_t at = 0; at < items.size() && !refusal;) at = addStep(node, items, at, module);
      StepArms& step = *module.steps[place].arms;
      step.outputs[arm] = known(arms.list[arm].output);
      step.counts[arm] = module.steps.size() - begin;
      now = outside;
    }
  }

  /// A module that others apply.
  void addHeld(const HeldModule& held, Module& module) {
    Step step;
    step.isHeld = true;
    step.attribute = pythonName(lastName(held.path).first, dialect.taken);
    if (held.child != nullptr) {
      step.modules.push_back(positions.at(held.child));
    } else {
      const std::size_t first = module.holes.size();
      Scribe scribe(module.holes);
      const tl::expected<Code, Refusal> code = dialect.call(*held.call, scribe);
      if (!code) return;  // told where it is applied
      step.code.module = code->module;
      for (std::size_t hole = first; hole < module.holes.size(); ++hole) step.holes.push_back(hole);
    }
    module.steps.push_back(std::move(step));
  }

  /// The turns of one loop that follow each other.
  std::size_t addLoop(const ModuleNode& node, std::size_t at, Module& module) {
    std::vector<const ModuleNode*> turns;
    std::size_t end = at;
    for (; end < node.items.size(); ++end) {
      const ModuleNode* child = node.items[end].child.get();
      if (child == nullptr || !child->isTurn() || child->attribute != node.items[at].child->attribute ||
          child->turn != static_cast<std::int64_t>(turns.size()))
        break;
      turns.push_back(child);
    }
    Step loop;
    loop.isLoop = true;
    loop.attribute = pythonName(turns.front()->attribute, dialect.taken);
    for (const ModuleNode* turn : turns) loop.modules.push_back(read(*turn));
    loop.operands = turns.front()->inputs;
    loop.lent = turns.front()->borrowed;
    loop.results = turns.back()->outputs;
    loop.carried = carriedBetween(graph, node, at, turns);
    if (loop.carried.empty()) loop.results.clear();
    const bool isCarried = !loop.carried.empty();
    add(std::move(loop), module);
    if (isCarried) return end;
    const std::string attribute = pythonName(turns.front()->attribute, dialect.taken);
    for (std::size_t k = 0; k < turns.size(); ++k) {
      if (turns[k]->outputs.empty()) continue;  // what it computes is read nowhere
      Step step;
      step.operands = turns[k]->inputs;
      step.lent = turns[k]->borrowed;
      step.results = turns[k]->outputs;
      step.attribute = fmt::format("{}[{}]", attribute, k);
      add(std::move(step), module);
    }
    return end;
  }

  const graph::Graph& graph;
  const ModuleNode& root;
  const Dialect& dialect;
  std::vector<Module>& modules;
  std::map<TensorId, TensorId> now;  ///< of the module at hand: the alias of a tensor that was given on
  std::uint32_t aliasCount = 0;
  std::map<const ModuleNode*, std::size_t> positions;  ///< in `modules`
};

class Signature {
public:
  static std::string of(const graph::Graph& graph, const Module& module) {
    Signature signature(graph, module);
    for (const TensorId input : module.node->inputs) signature.number(input);
    for (const auto& [name, weight] : module.weights) {
      signature.text += "weight " + name + " ";
      signature.addCall(weight);
    }
    for (const Step& step : module.steps) signature.add(step);
    signature.text += "returns";
    for (const TensorId output : module.outputs) signature.text += fmt::format(" {}", signature.number(output));
    return signature.text;
  }

private:
  Signature(const graph::Graph& graph, const Module& module) : graph(graph), own(module.node->call->path), module(module) {}

  /// Tensors by the order in which they are met, weights of the module by their paths in it.
  std::string number(TensorId tensor) {
    const bool isOfGraph = graph::index(tensor) < graph.tensors.size();
    const std::string_view path = isOfGraph ? weightPath(graph, tensor) : std::string_view();
    if (!numbers.contains(tensor) && !path.empty()) return std::string(path.substr(own.empty() ? 0 : own.size() + 1));
    return std::to_string(numbers.try_emplace(tensor, numbers.size()).first->second);
  }

  void addMarked(const Marked& marked) {
    text +=
        filled(marked, [this](const Mark& mark) { return mark.tensor ? "<" + number(*mark.tensor) + ">" : std::string("<>"); });
  }
  void addCall(const CallText& call) {
    text += call.callee + "(";
    for (const Argument& argument : call.arguments) {
      text += argument.keyword + "=";
      addMarked(argument.text);
      text += ",";
    }
    text += ")";
  }

  /// A module that the module is given, by its place among those; one that it holds, by its path.
  std::string given(const std::string& path) const {
    const std::vector<std::string>& borrowed = module.node->borrowed;
    const auto place = std::find(borrowed.begin(), borrowed.end(), path);
    return place == borrowed.end() ? lastName(path).first : fmt::format("{}", place - borrowed.begin());
  }
  void addArms(const StepArms& arms) {
    text += fmt::format(" arms of {} and {}:", arms.counts[0], arms.counts[1]);
    for (const TensorId output : arms.outputs) text += fmt::format(" {}", number(output));
    for (const TensorId operand : arms.operands) text += fmt::format(" {}", number(operand));
  }

  void add(const Step& step) {
    if (step.isHeld) text += "held ";
    if (!step.borrowed.empty()) text += "given " + given(step.borrowed);
    for (const std::string& path : step.lent) text += " lent " + given(path);
    if (step.arms) addArms(*step.arms);
    if (!step.attribute.empty()) text += step.isLoop ? "loop " + step.attribute : "module " + step.attribute;
    if (step.isLoop && step.carried.empty()) text += fmt::format(" of {}", step.modules.size());
    for (const std::int64_t from : step.carried) text += fmt::format(" {}", from);
    if (step.code.module) addCall(*step.code.module);
    if (!step.code.text.empty()) addMarked(step.code.text);
    if (!step.code.call.callee.empty() || !step.code.call.arguments.empty()) addCall(step.code.call);
    for (const TensorId operand : step.operands) text += fmt::format(" {}", number(operand));
    text += " ->";
    for (const TensorId result : step.results) text += fmt::format(" {}", number(result));
    text += "\n";
  }

  const graph::Graph& graph;
  const std::string& own;
  const Module& module;
  std::string text;
  std::map<TensorId, std::size_t> numbers;
};

}  // namespace

std::vector<TensorId> operandsOf(const Step& step) {
  if (step.isLoop && step.carried.empty()) return {};  // its turns are steps of their own
  if (!step.operands.empty()) return step.operands;    // of a module of the network
  std::vector<TensorId> operands;
  const auto add = [&](const Marked& text) {
    for (const Mark& mark : marksOf(text)) {
      if (mark.tensor) operands.push_back(*mark.tensor);
    }
  };
  add(step.code.text);
  for (const Argument& argument : step.code.call.arguments) add(argument.text);
  if (step.arms) {
    for (const std::vector<TensorId>* list : {&step.arms->operands, &step.arms->captured})
      operands.insert(operands.end(), list->begin(), list->end());
  }
  return operands;
}

std::string signatureOf(const graph::Graph& graph, const Module& module) { return Signature::of(graph, module); }

tl::expected<std::vector<Module>, Refusal> readModules(const graph::Graph& graph, const ModuleNode& root,
                                                       const Dialect& dialect) {
  std::vector<Module> modules;
  ModuleReader reader(graph, root, dialect, modules);
  reader.read(root);
  if (reader.refusal) return tl::unexpected(*reader.refusal);
  return modules;
}

}  // namespace tbem::emit
