#include "compiler/emit/python/ClassSlots.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::emit {

namespace {

class SlotCollector {
public:
  SlotCollector(const ClassTable& table, const Class& type) : table(table), type(type) {}

  ClassSlots collect() {
    collectSlots();
    return std::move(found);
  }

private:
  const Module& module(std::size_t k) const { return table.modules[type.objects[k]]; }

  std::size_t addSlot(std::string name, std::vector<std::string> values, bool isModule = false) {
    found.slots.push_back({std::move(name), std::move(values), isModule});
    return found.slots.size() - 1;
  }
  /// One slot a parameter of the class of these modules, one an object.
  std::vector<std::size_t> addArguments(const std::vector<std::size_t>& parts) {
    std::vector<std::size_t> made;
    const Class& inside = table.typeOf(parts.front());
    for (const Parameter& parameter : inside.parameters) {
      std::vector<std::string> values;
      values.reserve(parts.size());
      for (const std::size_t at : parts) values.push_back(parameter.values[table.object[at]]);
      made.push_back(addSlot(parameter.name, std::move(values), parameter.isModule));
    }
    return made;
  }
  bool sameClass(const std::vector<std::size_t>& parts) const {
    return std::all_of(parts.begin(), parts.end(),
                       [&](std::size_t at) { return table.modules[at].type == table.modules[parts.front()].type; });
  }

  void collectSlots() {
    const Module& first = module(0);
    // In the order of the text, which is that of the parameters: the holes of weights, then of each step.
    const auto addHoles = [&](std::size_t end) {
      for (std::size_t hole = found.ofHole.size(); hole < end; ++hole) {
        std::vector<std::string> values;
        for (std::size_t k = 0; k < type.objects.size(); ++k) values.push_back(module(k).holes[hole].text);
        found.ofHole.push_back(addSlot(first.holes[hole].name, std::move(values)));
      }
    };
    for (std::size_t s = 0; s < first.steps.size(); ++s) {
      addHoles(first.steps[s].holes.empty() ? 0 : first.steps[s].holes.back() + 1);
      found.ofChild.emplace_back();
      found.isGiven.push_back(0);
      found.loops.emplace_back();
      if (first.steps[s].isLoop) {
        planLoop(s);
      } else if (!first.steps[s].modules.empty()) {
        std::vector<std::size_t> parts;
        for (std::size_t k = 0; k < type.objects.size(); ++k) parts.push_back(module(k).steps[s].modules.front());
        if (sameClass(parts)) {
          found.ofChild[s] = addArguments(parts);
        } else {
          std::vector<std::string> values;
          values.reserve(parts.size());
          for (const std::size_t at : parts) values.push_back(table.literal(at));
          found.ofChild[s] = {addSlot(first.steps[s].attribute, std::move(values), true)};
          found.isGiven[s] = 1;
        }
      }
    }
    addHoles(first.holes.size());
  }

  /// Whether in each object turns [from, ..) are objects of one class with the same arguments.
  bool turnsAgree(std::size_t s, std::size_t from) const {
    std::vector<std::size_t> heads;
    for (std::size_t k = 0; k < type.objects.size(); ++k) {
      const std::vector<std::size_t>& turns = module(k).steps[s].modules;
      if (turns.size() <= from) return false;
      heads.push_back(turns[from]);
      for (std::size_t turn = from + 1; turn < turns.size(); ++turn) {
        if (table.modules[turns[turn]].type != table.modules[turns[from]].type ||
            table.literal(turns[turn]) != table.literal(turns[from]))
          return false;
      }
    }
    return sameClass(heads);
  }

  std::vector<std::size_t> turnOfEach(std::size_t s, std::size_t turn) const {
    std::vector<std::size_t> parts;
    for (std::size_t k = 0; k < type.objects.size(); ++k) parts.push_back(module(k).steps[s].modules[turn]);
    return parts;
  }

  void planLoop(std::size_t s) {
    LoopPlan& plan = found.loops[s];
    const auto count = [&](std::size_t less) {
      std::vector<std::string> counts;
      for (std::size_t k = 0; k < type.objects.size(); ++k)
        counts.push_back(std::to_string(module(k).steps[s].modules.size() - less));
      return addSlot("count", std::move(counts));
    };
    const auto append = [&](const std::vector<std::size_t>& more) {
      plan.slots.insert(plan.slots.end(), more.begin(), more.end());
    };
    if (turnsAgree(s, 0)) {
      plan.kind = LoopPlan::Kind::Equal;
      append(addArguments(turnOfEach(s, 0)));
      plan.slots.push_back(count(0));
      return;
    }
    if (turnsAgree(s, 1) && sameClass(turnOfEach(s, 0))) {
      plan.kind = LoopPlan::Kind::FirstDiffers;
      append(addArguments(turnOfEach(s, 0)));
      append(addArguments(turnOfEach(s, 1)));
      plan.slots.push_back(count(1));
      return;
    }
    const std::size_t turns = module(0).steps[s].modules.size();
    bool listed = true;
    for (std::size_t k = 0; k < type.objects.size(); ++k) listed = listed && module(k).steps[s].modules.size() == turns;
    for (std::size_t turn = 0; listed && turn < turns; ++turn) listed = sameClass(turnOfEach(s, turn));
    if (listed) {
      plan.kind = LoopPlan::Kind::Listed;
      for (std::size_t turn = 0; turn < turns; ++turn) append(addArguments(turnOfEach(s, turn)));
      return;
    }
    std::vector<std::string> lists;
    for (std::size_t k = 0; k < type.objects.size(); ++k) {
      std::vector<std::string> parts;
      parts.reserve(module(k).steps[s].modules.size());
      for (const std::size_t at : module(k).steps[s].modules) parts.push_back(table.literal(at));
      lists.push_back(fmt::format("[{}]", fmt::join(parts, ", ")));
    }
    plan.slots.push_back(addSlot(module(0).steps[s].attribute, std::move(lists), true));
  }

  const ClassTable& table;
  const Class& type;
  ClassSlots found;
};

}  // namespace

bool Slot::isLiteral() const {
  return std::all_of(values.begin(), values.end(), [&](const std::string& value) { return value == values.front(); });
}

Constructor constructorText(const Class& type, const std::vector<std::string>& arguments) {
  std::string text;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    text += p == 0 ? "" : ", ";
    if (p >= 2) text += type.parameters[p].name + "=";
    text += arguments[p];
  }
  return type.name + "(" + text + ")";
}

Constructor ClassTable::literal(std::size_t module) const {
  const Class& type = typeOf(module);
  if (type.isIdentity) return dialect.identity;
  std::vector<std::string> arguments;
  for (const Parameter& parameter : type.parameters) arguments.push_back(parameter.values[object[module]]);
  return constructorText(type, arguments);
}

ClassSlots slotsOf(const ClassTable& table, const Class& type) { return SlotCollector(table, type).collect(); }

}  // namespace tbem::emit
