#include "compiler/emit/python/Classes.h"

#include "compiler/emit/python/ClassSlots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tbem::emit {

namespace {

/// Finds the parameters of a class whose inner classes have theirs, and writes its constructor.
class ClassWriter {
public:
  ClassWriter(const ClassTable& table, Class& type) : table(table), type(type), found(slotsOf(table, type)) {}

  /// What is wrong with a module that is called twice.
  std::optional<Refusal> write() {
    nameParameters();
    writeAttributes();
    writeHoles();
    return refusal;
  }

private:
  const Module& module(std::size_t k) const { return table.modules[type.objects[k]]; }
  /// Slots with the same values are one parameter. A module is one of its own, as two would be one object.
  using Key = std::pair<std::vector<std::string>, std::size_t>;
  Key keyOf(std::size_t slot) const { return {found.slots[slot].values, found.slots[slot].isModule ? slot + 1 : 0}; }
  bool isLiteral(std::size_t slot) const { return found.slots[slot].isLiteral(); }
  std::string textOf(std::size_t slot) const {
    return isLiteral(slot) ? found.slots[slot].values.front() : type.parameters[parameterOf.at(keyOf(slot))].name;
  }

  /// What the forward pass reads: an attribute where it is a parameter.
  void writeHoles() {
    const Module& first = module(0);
    for (std::size_t hole = 0; hole < first.holes.size(); ++hole) {
      const std::size_t slot = found.ofHole[hole];
      const bool isRead = std::any_of(first.steps.begin(), first.steps.end(), [&](const Step& step) {
        return std::find(step.holes.begin(), step.holes.end(), hole) != step.holes.end() && !inConstructor(step, hole);
      });
      const std::string text = textOf(slot);
      const bool isKept = isRead && !isLiteral(slot);
      type.holes.push_back(isKept ? "self." + keep(text) : text);
    }
  }
  /// The attribute that holds the parameter, which no module or weight has the name of.
  std::string keep(const std::string& parameter) {
    for (const auto& [attribute, kept] : type.kept) {
      if (kept == parameter) return attribute;
    }
    std::string attribute = parameter;
    const auto isTaken = [&] {
      return std::any_of(type.attributes.begin(), type.attributes.end(), [&](const auto& one) { return one.first == attribute; });
    };
    while (isTaken()) attribute += '_';
    type.kept.emplace_back(attribute, parameter);
    return attribute;
  }
  static bool inConstructor(const Step& step, std::size_t hole) {
    if (!step.code.module) return false;
    for (const Argument& argument : step.code.module->arguments) {
      for (const Mark& mark : marksOf(argument.text)) {
        if (!mark.tensor && mark.hole == hole) return true;
      }
    }
    return false;
  }

  void nameParameters() {
    std::set<std::string> names;
    for (std::size_t slot = 0; slot < found.slots.size(); ++slot) {
      if (isLiteral(slot) || parameterOf.contains(keyOf(slot))) continue;
      std::string wanted = declaredName(found.slots[slot].values);
      if (wanted.empty() || names.contains(wanted)) wanted = variableName(found.slots[slot].name, table.dialect.taken);
      const std::string name = freshName(names, wanted);
      parameterOf[keyOf(slot)] = type.parameters.size();
      type.parameters.push_back({name, found.slots[slot].values, found.slots[slot].isModule});
    }
  }
  std::string declaredName(const std::vector<std::string>& values) const {
    const std::size_t count = module(0).node->call->parameters.size();
    for (std::size_t p = 0; p < count; ++p) {
      bool same = true;
      for (std::size_t k = 0; same && k < type.objects.size(); ++k)
        same = table.text(module(k).node->call->parameters[p].second) == values[k];
      if (same) return variableName(module(0).node->call->parameters[p].first, table.dialect.taken);
    }
    return "";
  }

  Constructor written(const CallText& call) const {
    return filled(call, [this](const Mark& mark) { return mark.tensor ? std::string("?") : textOf(found.ofHole[mark.hole]); });
  }
  Constructor constructed(std::size_t at, std::vector<std::size_t>::const_iterator& slot) const {
    const Class& inside = table.typeOf(at);
    if (inside.isIdentity) return table.dialect.identity;
    std::vector<std::string> arguments;
    for (std::size_t p = 0; p < inside.parameters.size(); ++p) arguments.push_back(textOf(*slot++));
    return constructorText(inside, arguments);
  }

  Constructor listOf(std::size_t s) const {
    const LoopPlan& plan = found.loops[s];
    const std::vector<std::size_t>& turns = module(0).steps[s].modules;
    auto slot = plan.slots.begin();
    const std::string& type = table.dialect.moduleList;
    std::string inside;
    const auto repeated = [&](std::size_t at) {
      const std::string one = constructed(at, slot);
      return fmt::format("{} for _ in range({})", one, textOf(*slot));
    };
    switch (plan.kind) {
      case LoopPlan::Kind::Equal:
        if (module(0).steps[s].modules.size() == 1 && isLiteral(plan.slots.back()))
          inside = fmt::format("[{}]", constructed(turns.front(), slot));
        else
          inside = type.empty() ? "[" + repeated(turns.front()) + "]" : repeated(turns.front());
        break;
      case LoopPlan::Kind::FirstDiffers: {
        const std::string first = constructed(turns[0], slot);
        if (turns.size() == 2 && isLiteral(plan.slots.back()))
          inside = fmt::format("[{}, {}]", first, constructed(turns[1], slot));
        else
          inside = fmt::format("[{}, *({})]", first, repeated(turns[1]));
        break;
      }
      case LoopPlan::Kind::Listed: {
        std::vector<std::string> parts;
        parts.reserve(turns.size());
        for (const std::size_t turn : turns) parts.push_back(constructed(turn, slot));
        inside = fmt::format("[{}]", fmt::join(parts, ", "));
        break;
      }
      case LoopPlan::Kind::Given:
        inside = textOf(*slot);
        break;
    }
    return type.empty() ? inside : fmt::format("{}({})", type, inside);
  }

  void writeAttributes() {
    const Module& first = module(0);
    for (const auto& [name, weight] : first.weights) type.attributes.emplace_back(name, written(weight));
    std::map<std::string, Constructor> known;
    for (std::size_t s = 0; s < first.steps.size(); ++s) {
      const Step& step = first.steps[s];
      Constructor made;
      if (step.isLoop) {
        made = listOf(s);
      } else if (step.code.module) {
        made = written(*step.code.module);
      } else if (!step.modules.empty()) {
        const bool isGiven = found.isGiven[s] != 0;
        auto slot = found.ofChild[s].cbegin();
        made = isGiven ? textOf(*slot) : constructed(step.modules.front(), slot);
      }
      if (made.empty()) continue;
      const auto [before, isNew] = known.try_emplace(step.attribute, made);
      if (isNew) {
        type.attributes.emplace_back(step.attribute, made);
      } else if (before->second != made && !refusal) {
        const ModuleNode& inside = step.modules.empty() ? *module(0).node : *table.modules[step.modules.front()].node;
        refusal = Refusal{inside.call->use, "`" + step.attribute + "`",
                          "It is applied to tensors of several shapes, and its module would be another one for each."};
      }
    }
  }

  const ClassTable& table;
  Class& type;
  const ClassSlots found;
  std::map<Key, std::size_t> parameterOf;
  std::optional<Refusal> refusal;
};

/// Puts modules into classes.
class Classifier {
public:
  Classifier(const graph::Graph& graph, std::vector<Module>& modules, const Dialect& dialect, const ValueText& text)
      : graph(graph), modules(modules), table{modules, dialect, text, {}, {}}, taken(wordsOf(dialect.taken.classes)) {
    taken.insert({"False", "None", "True"});
  }

  tl::expected<std::vector<Class>, Refusal> classify() {
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (std::size_t at = 0; at < modules.size(); ++at) {
      const ModuleNode& node = *modules[at].node;
      const std::string word = node.isTurn() ? node.attribute : node.decl->name.text;
      const std::string place = node.isTurn() ? node.attribute + " in " + node.decl->name.text : word;
      const auto [type, isNew] = known.try_emplace({place, signatureOf(graph, modules[at])}, table.classes.size());
      if (isNew) {
        table.classes.emplace_back();
        table.classes.back().isIdentity = isIdentity(modules[at]) && at + 1 < modules.size();
        if (!table.classes.back().isIdentity) table.classes.back().name = freshName(taken, className(word));
      }
      modules[at].type = type->second;
      table.object.push_back(table.classes[type->second].objects.size());
      table.classes[type->second].objects.push_back(at);
    }
    resolved.resize(table.classes.size());
    for (std::size_t type = 0; type < table.classes.size(); ++type) resolve(type);
    if (refusal) return tl::unexpected(*refusal);
    return sorted();
  }

private:
  static bool isIdentity(const Module& module) {
    const bool isEmpty = module.steps.empty() && module.weights.empty();
    return isEmpty && module.outputs.size() <= 1 && module.outputs == module.node->inputs;
  }

  /// The classes that a class is made of are resolved first. No declaration holds itself, so this ends.
  void resolve(std::size_t type) {
    if (resolved[type] != 0) return;
    resolved[type] = 1;
    for (const std::size_t at : table.classes[type].objects) {
      for (const Step& step : modules[at].steps) {
        for (const std::size_t inside : step.modules) resolve(modules[inside].type);
      }
    }
    order.push_back(type);
    if (table.classes[type].isIdentity) return;
    const std::optional<Refusal> wrong = ClassWriter(table, table.classes[type]).write();
    if (wrong && !refusal) refusal = wrong;
  }

  std::vector<Class> sorted() {
    std::vector<Class> classes;
    std::vector<std::size_t> place(table.classes.size());
    for (const std::size_t type : order) {
      place[type] = classes.size();
      classes.push_back(std::move(table.classes[type]));
    }
    for (Module& module : modules) module.type = place[module.type];
    return classes;
  }

  const graph::Graph& graph;
  std::vector<Module>& modules;
  ClassTable table;
  std::set<std::string> taken;     ///< names of classes
  std::vector<char> resolved;      ///< by class
  std::vector<std::size_t> order;  ///< of classes
  std::optional<Refusal> refusal;
};

}  // namespace

tl::expected<Classes, Refusal> classesOf(const graph::Graph& graph, std::vector<Module> modules, const Dialect& dialect,
                                         const ValueText& text) {
  Classes all;
  all.modules = std::move(modules);
  tl::expected<std::vector<Class>, Refusal> classes = Classifier(graph, all.modules, dialect, text).classify();
  if (!classes) return tl::unexpected(classes.error());
  all.classes = std::move(*classes);
  return all;
}

}  // namespace tbem::emit
