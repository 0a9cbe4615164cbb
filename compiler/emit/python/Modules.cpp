#include "compiler/emit/python/Modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tbem::emit {

using graph::TensorId;

namespace {

class ModuleReader {
public:
  ModuleReader(const graph::Graph& graph, const ModuleNode& root, const Dialect& dialect, std::vector<Module>& modules)
      : graph(graph), root(root), dialect(dialect), modules(modules) {}

  /// The position of the module, behind those inside of it.
  std::size_t read(const ModuleNode& node) {
    Module module;
    module.node = &node;
    addWeights(node, module);
    const std::map<TensorId, TensorId> outside = std::exchange(now, {});
    for (std::size_t at = 0; at < node.items.size() && !refusal;) at = addStep(node, at, module);
    if (&node == &root && dialect.result) addResults(module);
    for (const TensorId output : node.outputs) module.outputs.push_back(known(output));
    now = outside;
    modules.push_back(std::move(module));
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

  void addWeights(const ModuleNode& node, Module& module) {
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

  std::size_t addStep(const ModuleNode& node, std::size_t at, Module& module) {
    const ModuleItem& item = node.items[at];
    Step step;
    step.results = madeBy(graph, item);
    if (item.child != nullptr) {
      step.attribute = pythonName(item.child->attribute, dialect.taken);
      if (item.child->isTurn()) return addLoop(node, at, module);
      step.operands = item.child->inputs;
      step.modules.push_back(read(*item.child));
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
    if (step.code.module) {
      step.attribute = pythonName(lastName(item.call->path).first, dialect.taken);
    }
    for (std::size_t hole = first; hole < module.holes.size(); ++hole) step.holes.push_back(hole);
    add(std::move(step), module);
    return at + 1;
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
    loop.results = turns.back()->outputs;
    loop.carried = carriedBetween(node, at, turns);
    if (loop.carried.empty()) loop.results.clear();
    const bool isCarried = !loop.carried.empty();
    add(std::move(loop), module);
    if (isCarried) return end;
    const std::string attribute = pythonName(turns.front()->attribute, dialect.taken);
    for (std::size_t k = 0; k < turns.size(); ++k) {
      if (turns[k]->outputs.empty()) continue;  // what it computes is read nowhere
      Step step;
      step.operands = turns[k]->inputs;
      step.results = turns[k]->outputs;
      step.attribute = fmt::format("{}[{}]", attribute, k);
      add(std::move(step), module);
    }
    return end;
  }

  /// Step::carried. Empty where a turn's result is read behind the next one, or turns are called in different ways.
  std::vector<std::int64_t> carriedBetween(const ModuleNode& node, std::size_t at, const std::vector<const ModuleNode*>& turns) {
    const std::size_t inputs = turns.front()->inputs.size(), outputs = turns.front()->outputs.size();
    if (outputs == 0 || inputs == 0) return {};
    for (const ModuleNode* turn : turns) {
      if (turn->inputs.size() != inputs || turn->outputs.size() != outputs) return {};
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
      for (const TensorId result : turns[k]->outputs) {
        if (readLater.contains(result)) return {};
      }
      for (std::size_t further = k + 2; further < turns.size(); ++further) {
        for (const TensorId input : turns[further]->inputs) {
          const auto& results = turns[k]->outputs;
          if (std::find(results.begin(), results.end(), input) != results.end()) return {};
        }
      }
    }
    for (std::size_t r = 0; r < outputs; ++r) {  // a result without a place among the operands has no name to be carried by
      if (std::find(carried.begin(), carried.end(), static_cast<std::int64_t>(r)) == carried.end()) return {};
    }
    return carried;
  }

  const graph::Graph& graph;
  const ModuleNode& root;
  const Dialect& dialect;
  std::vector<Module>& modules;
  std::map<TensorId, TensorId> now;  ///< of the module at hand: the alias of a tensor that was given on
  std::uint32_t aliasCount = 0;
};

class Signature {
public:
  static std::string of(const graph::Graph& graph, const Module& module) {
    Signature signature(graph, module.node->call->path);
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
  Signature(const graph::Graph& graph, const std::string& own) : graph(graph), own(own) {}

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

  void add(const Step& step) {
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
  std::string text;
  std::map<TensorId, std::size_t> numbers;
};

}  // namespace

std::vector<TensorId> operandsOf(const Step& step) {
  if (step.isLoop && step.carried.empty()) return {};  // its turns are steps of their own
  if (!step.attribute.empty() && !step.code.module) return step.operands;
  std::vector<TensorId> operands;
  const auto add = [&](const Marked& text) {
    for (const Mark& mark : marksOf(text)) {
      if (mark.tensor) operands.push_back(*mark.tensor);
    }
  };
  add(step.code.text);
  for (const Argument& argument : step.code.call.arguments) add(argument.text);
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
