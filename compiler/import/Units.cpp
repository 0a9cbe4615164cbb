#include "compiler/import/Units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace tbem::imports {

namespace {

std::vector<std::string> partsOf(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= path.size() && !path.empty();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    parts.push_back(path.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}
bool isNumber(const std::string& word) {
  return !word.empty() && word.size() < 6 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "64*s77" as 64 and "s77"; 1 and the text itself of others.
std::pair<std::int64_t, std::string> monomial(const std::string& text) {
  const std::size_t star = text.find('*');
  if (star == std::string::npos || !isNumber(text.substr(0, star))) return {1, text};
  return {std::stoll(text.substr(0, star)), text.substr(star + 1)};
}

class UnitReader {
public:
  UnitReader(const Exported& exported, const std::set<std::string>& operators, Unknown unknown, Units& all)
      : exported(exported), operators(operators), unknown(unknown), all(all) {}

  /// The position of the unit, behind those inside of it.
  std::size_t read(const ModuleCall& call);

private:
  /// The unit at hand, while its items are read.
  struct Open {
    Unit unit;
    std::set<std::string> names;                  ///< taken by what it makes
    std::map<std::string, std::size_t> byModule;  ///< by the first part of a module's path below it: position in Unit::made
    std::set<ValueId> known;                      ///< constants and weights that have a name by now
  };

  void addItems(Open& open, const ModuleCall& call);
  void addSequence(Open& open, const ModuleCall& call);
  void addChain(Open& open, const ModuleCall& call, std::size_t first);
  void addNode(Open& open, ValueId id, const std::string& module);
  void addBlock(Open& open, const ModuleCall& call);
  void addOperandsOf(Open& open, const std::vector<ValueId>& operands);
  std::optional<Expression> expression(Open& open, const Value& value);
  Marked sizeText(Open& open, const Size& size, const std::string& name);
  Made* listOf(Open& open, const std::string& module, std::string& target);
  Made& place(Open& open, const std::string& module, std::string& target);
  std::string ownerOf(const Open& open, const Expression& made) const;
  std::string below(const Open& open, const std::string& path) const;
  void lack(const Value& node);
  const ModuleCall* onlyNode(const ModuleCall& call) const;
  bool isCell(const ModuleCall& call) const;

  const Exported& exported;
  const std::set<std::string>& operators;
  Unknown unknown;
  Units& all;
};

void UnitReader::lack(const Value& node) {
  for (LackingOperator& known : all.lacking) {
    if (known.op == calledInModel(node)) {
      ++known.count;
      return;
    }
  }
  all.lacking.push_back({calledInModel(node), node.place, 1, node.why});
}

std::string UnitReader::below(const Open& open, const std::string& path) const {
  const std::string& own = open.unit.call->path;
  if (own.empty()) return path;
  return path.starts_with(own + ".") ? path.substr(own.size() + 1) : path;
}

Marked UnitReader::sizeText(Open& open, const Size& size, const std::string& name) {
  emit::Scribe scribe(open.unit.holes);
  if (size.symbolic.empty()) return scribe.hole(name, std::to_string(size.number));
  const auto [factor, symbol] = monomial(size.symbolic);
  std::optional<Marked> otherwise;
  for (std::size_t i = 0; i < open.unit.inputs.size() && !open.unit.isOfList; ++i) {
    const Facts& facts = exported[open.unit.inputs[i]].facts;
    for (std::size_t axis = 0; axis < facts.rank(); ++axis) {
      const Size& known = facts.shape[axis];
      if (known.symbolic.empty()) continue;
      const std::string dimension = dimensionName(i, axis, facts.rank());
      const auto [knownFactor, knownSymbol] = monomial(known.symbolic);
      const bool isSame = known.symbolic == size.symbolic, isAlike = knownSymbol == symbol && factor > 0 && knownFactor > 0;
      const bool isMultiple = isAlike && factor % knownFactor == 0;
      const bool isPart = isAlike && knownFactor % factor == 0;
      if (!isSame && !isMultiple && !isPart) continue;
      open.unit.dimensions.emplace(i, axis);
      if (isSame) return dimension;
      if (isMultiple) return scribe.hole("count", std::to_string(factor / knownFactor)) + " * " + dimension;
      if (!otherwise) otherwise = dimension + " div " + scribe.hole("count", std::to_string(knownFactor / factor));
    }
  }
  if (otherwise) return *otherwise;
  all.fixed.insert(size.symbolic);
  return scribe.hole(name, std::to_string(size.number));
}

std::optional<Expression> UnitReader::expression(Open& open, const Value& value) {
  emit::Scribe scribe(open.unit.holes);
  const SizeText sizes = [&](const Size& size, const std::string& name) { return sizeText(open, size, name); };
  const NodeReader reader(exported, value, scribe, sizes);
  std::optional<Expression> made = textOf(reader);
  if (!made && unknown == Unknown::Opaque) made = opaqueCall(reader, operators, all.opaque);
  if (!made) lack(value);
  return made;
}

/// Constants and shared weights get a name before the step that reads them first.
void UnitReader::addOperandsOf(Open& open, const std::vector<ValueId>& operands) {
  for (const ValueId operand : operands) {
    const Value& value = exported[operand];
    const bool isGiven = std::find(open.unit.inputs.begin(), open.unit.inputs.end(), operand) != open.unit.inputs.end();
    if (isGiven || open.known.contains(operand)) continue;
    if (value.kind == Value::Kind::Constant) {
      open.known.insert(operand);
      std::optional<Expression> made = expression(open, value);
      if (!made) continue;
      Step step;
      step.expression = std::move(*made);
      step.results = {operand};
      open.unit.steps.push_back(std::move(step));
    } else if (value.kind == Value::Kind::Weight && value.isShared) {
      open.known.insert(operand);
      std::string name = below(open, value.path);
      std::replace(name.begin(), name.end(), '.', '_');
      name = nameFor(name, open.names);
      open.names.insert(name);
      emit::Scribe scribe(open.unit.holes);
      std::string shape;
      for (const Size& size : value.facts.shape)
        shape += (shape.empty() ? "" : ", ") + scribe.hole("size", std::to_string(size.number));
      open.unit.weights.push_back({name, operand, "[" + shape + "]"});
    }
  }
}

/// Where what the module is stands in the unit. `target` becomes its text: "features[3]". A module that is called again is the
/// same.
Made& UnitReader::place(Open& open, const std::string& module, std::string& target) {
  std::vector<std::string> parts = partsOf(below(open, module));
  const bool isListed = parts.size() > 1 && !isNumber(parts.front()) && std::all_of(parts.begin() + 1, parts.end(), isNumber);
  if (parts.size() > 1 && !isListed) parts = {fmt::format("{}", fmt::join(parts, "_"))};
  if (parts.empty()) parts = {"layer"};
  if (isNumber(parts.front())) parts.front().insert(0, "layer_");
  const auto known = open.byModule.find(parts.front());
  if (known == open.byModule.end()) {
    const std::string name = nameFor(parts.front(), open.names);
    open.names.insert(name);
    open.byModule.emplace(parts.front(), open.unit.made.size());
    open.unit.made.emplace_back().name = name;
  }
  Made* made = &open.unit.made[open.byModule.at(parts.front())];
  target = made->name;
  for (std::size_t p = 1; p < parts.size(); ++p) {
    made->kind = Made::Kind::List;
    const auto member = static_cast<std::size_t>(std::stoul(parts[p]));
    if (made->members.size() <= member) made->members.resize(member + 1);
    made = &made->members[member];
    target += "[" + parts[p] + "]";
  }
  return *made;
}

/// The module that an instance with these weights is: theirs, or a part of it. "" of the model itself.
std::string UnitReader::ownerOf(const Open& open, const Expression& made) const {
  std::string owner = exported[made.weights.front().second].path;
  const std::size_t dot = owner.rfind('.');
  const std::string last = dot == std::string::npos ? owner : owner.substr(dot + 1);
  owner.resize(dot == std::string::npos ? 0 : dot);
  const auto inside = [&](const std::string& part) { return owner + (owner.empty() ? "" : ".") + part; };
  constexpr std::string_view kRecurrent = "weight_ih";  // of a cell; "weight_ih_l0" of a layer
  if (last.starts_with(kRecurrent)) return last.size() == kRecurrent.size() ? owner : inside(last.substr(kRecurrent.size() + 1));
  if (last == "weight" && owner != open.unit.call->path) return owner;
  // "in_proj" of the weight "in_proj_weight", which no module of its own has.
  const std::size_t stem = last.rfind('_');
  return inside(stem == std::string::npos ? made.callee : last.substr(0, stem));
}

void UnitReader::addNode(Open& open, ValueId id, const std::string& module) {
  const Value& node = exported[id];
  addOperandsOf(open, operandsOf(node));
  std::optional<Expression> made = expression(open, node);
  if (!made) return;
  Step step;
  step.place = node.place;
  step.results = {id};
  if (!made->weights.empty()) {
    const std::string owner = ownerOf(open, *made);
    Made& instance = place(open, owner.empty() ? module : owner, step.target);
    for (const Marked& tensor : made->tensors) {
      for (const emit::Mark& mark : emit::marksOf(tensor)) {
        if (mark.tensor) step.operands.push_back(static_cast<ValueId>(*mark.tensor));
      }
    }
    if (instance.kind == Made::Kind::Absent) {
      instance.kind = Made::Kind::Operator;
      instance.operation = std::move(*made);
    }
    step.kind = Step::Kind::Apply;
  } else {
    step.expression = std::move(*made);
  }
  open.unit.steps.push_back(std::move(step));
}

void UnitReader::addBlock(Open& open, const ModuleCall& call) {
  Step step;
  step.kind = Step::Kind::Apply;
  const std::size_t inside = read(call);
  if (all.units[inside].steps.empty() || all.units[inside].outputs.empty()) return;  // nothing, or nothing that is read
  addOperandsOf(open, all.units[inside].inputs);
  Made& instance = place(open, call.path, step.target);
  if (instance.kind == Made::Kind::Absent) {
    instance.kind = Made::Kind::Block;
    instance.unit = inside;
  }
  step.operands = all.units[inside].inputs;
  step.results = all.units[inside].outputs;
  step.givesList = all.units[inside].isOfList;
  step.place = exported[step.results.front()].place;
  open.unit.steps.push_back(std::move(step));
}

/// The call itself where one node is all that it does, whatever modules lie between; else nothing.
const ModuleCall* UnitReader::onlyNode(const ModuleCall& call) const {
  const ModuleCall* at = &call;
  while (at->items.size() == 1 && at->items.front().child != nullptr) at = at->items.front().child.get();
  return at->items.size() == 1 ? at : nullptr;
}

/// Whether it is one step of a recurrent network, which the language has as a block.
bool UnitReader::isCell(const ModuleCall& call) const {
  return std::ranges::any_of(call.items, [&](const ModuleItem& item) {
    return item.child == nullptr && wordOf(exported[item.node]).ends_with("_cell");
  });
}

void UnitReader::addItems(Open& open, const ModuleCall& call) {
  for (const ModuleItem& item : call.items) {
    if (item.child == nullptr) {
      addNode(open, item.node, call.path);
    } else if (const ModuleCall* only = onlyNode(*item.child)) {
      addNode(open, only->items.front().node, item.child->path);
    } else if (item.child->inputs.empty() || isCell(*item.child)) {
      // Of weights and tables alone, a block would have nothing to read; a cell makes its first state in its first call alone.
      addItems(open, *item.child);
    } else if (item.child->isSequence()) {
      addSequence(open, *item.child);
    } else {
      addBlock(open, *item.child);
    }
  }
}

void UnitReader::addSequence(Open& open, const ModuleCall& call) {
  const std::size_t first = open.unit.steps.size();
  addItems(open, call);
  addChain(open, call, first);
}

/// The list that the module is, in what the unit makes, and its text; nullptr: it is none.
Made* UnitReader::listOf(Open& open, const std::string& module, std::string& target) {
  const std::vector<std::string> parts = partsOf(below(open, module));
  const auto known = parts.empty() ? open.byModule.end() : open.byModule.find(parts.front());
  if (known == open.byModule.end()) return nullptr;
  Made* made = &open.unit.made[known->second];
  target = made->name;
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const std::size_t member = isNumber(parts[p]) ? std::stoul(parts[p]) : made->members.size();
    if (member >= made->members.size()) return nullptr;
    made = &made->members[member];
    target += "[" + parts[p] + "]";
  }
  return made->kind == Made::Kind::List ? made : nullptr;
}

/// Steps of a list's members, each of which alone reads what the one before gave, become one. A few stay a pipe.
void UnitReader::addChain(Open& open, const ModuleCall& call, std::size_t first) {
  constexpr std::size_t kFew = 3;
  const std::size_t count = open.unit.steps.size() - first;
  std::string target;
  Made* const list = count > kFew ? listOf(open, call.path, target) : nullptr;
  if (list == nullptr || list->members.size() > count) return;
  std::vector<Made> members = list->members;
  members.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Step& step = open.unit.steps[first + k];
    const std::vector<ValueId> read = readBy(step);
    if (read.size() != 1 || step.results.size() != 1) return;
    if (k > 0 && read.front() != open.unit.steps[first + k - 1].results.front()) return;
    const bool isLast = k + 1 == count;
    const bool isReadLater = std::find(call.outputs.begin(), call.outputs.end(), step.results.front()) != call.outputs.end();
    if (isReadLater != isLast) return;
    if (step.kind == Step::Kind::Compute) {
      const Expression& made = step.expression;
      const bool isUnary = !made.callee.empty() && made.tensors.size() == 1 && emit::marksOf(made.tensors[0]).size() == 1 &&
                           emit::marksOf(made.tensors[0])[0].end == made.tensors[0].size();
      if (!isUnary || members[k].kind != Made::Kind::Absent) return;
      members[k].kind = Made::Kind::Operator;
      members[k].operation = made;
    } else if (step.kind == Step::Kind::Chain || step.givesList || step.target != fmt::format("{}[{}]", target, k)) {
      return;
    }
  }
  Step chain;
  chain.kind = Step::Kind::Chain;
  chain.target = target;
  chain.operands = readBy(open.unit.steps[first]);
  chain.results = open.unit.steps.back().results;
  chain.place = open.unit.steps[first].place;
  list->members = std::move(members);
  open.unit.steps.resize(first);
  open.unit.steps.push_back(std::move(chain));
}

std::size_t UnitReader::read(const ModuleCall& call) {
  Open open;
  open.unit.call = &call;
  open.unit.inputs = call.inputs;
  open.unit.outputs = call.outputs;
  open.names = operators;
  for (std::size_t rank = 1; rank <= 6; ++rank) {  // what dimensions and tensors are called
    for (std::size_t axis = 0; axis < rank; ++axis) open.names.insert(dimensionName(0, axis, rank));
  }
  for (const char* name : {"x", "y", "z", "xs", "i"}) open.names.insert(name);
  // DenseNet's layers: all that they are given goes into one tensor, and is read nowhere else. A network's inputs are no list.
  if (!call.path.empty() && call.inputs.size() > 1 && !call.items.empty() && call.items.front().child == nullptr) {
    const Value& node = exported[call.items.front().node];
    std::vector<ValueId> later;
    for (std::size_t k = 1; k < call.items.size(); ++k) {
      const std::vector<ValueId> more =
          call.items[k].child == nullptr ? operandsOf(exported[call.items[k].node]) : call.items[k].child->inputs;
      later.insert(later.end(), more.begin(), more.end());
    }
    const auto isRead = [&](ValueId input) { return std::find(later.begin(), later.end(), input) != later.end(); };
    open.unit.isOfList =
        wordOf(node) == "cat" && operandsOf(node) == call.inputs && std::none_of(call.inputs.begin(), call.inputs.end(), isRead);
  }
  addItems(open, call);
  addOperandsOf(open, call.outputs);
  all.units.push_back(std::move(open.unit));
  return all.units.size() - 1;
}

}  // namespace

std::vector<ValueId> readBy(const Step& step) {
  std::vector<ValueId> read = step.operands;
  const auto add = [&](const Marked& text) {
    for (const emit::Mark& mark : emit::marksOf(text)) {
      if (mark.tensor) read.push_back(static_cast<ValueId>(*mark.tensor));
    }
  };
  add(step.expression.text);
  for (const Marked& tensor : step.expression.tensors) add(tensor);
  return read;
}

Units readUnits(const Exported& exported, const ModuleCall& model, const std::set<std::string>& operators, Unknown unknown) {
  Units all;
  UnitReader(exported, operators, unknown, all).read(model);
  return all;
}

}  // namespace tbem::imports
