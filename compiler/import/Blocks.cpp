#include "compiler/import/Blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace tbem::imports {

namespace {

/// What a unit does, but for numbers: equal for units of one block.
class Signature {
public:
  static std::string of(const Exported& exported, const Units& all, const Unit& unit) {
    Signature signature(all);
    signature.text = unit.call->kind + (unit.isOfList ? " list" : "");
    if (!unit.isOfList) {
      for (const ValueId input : unit.inputs)
        signature.text +=
            fmt::format(" {}:{}:{}", signature.number(input), exported[input].facts.rank(), exported[input].facts.type);
    }
    for (const Declared& weight : unit.weights) {
      signature.text +=
          fmt::format(" weight {}:{} {}", weight.name, exported[weight.weight].facts.rank(), signature.number(weight.weight));
      if (exported[weight.weight].fill) signature.text += fmt::format(" init {}", *exported[weight.weight].fill);
    }
    for (const Made& made : unit.made) signature.add(made);
    for (const Step& step : unit.steps) signature.add(step, unit);
    for (const ValueId output : unit.outputs) signature.text += fmt::format(" returns {}", signature.number(output));
    return signature.text;
  }

private:
  explicit Signature(const Units& all) : all(all) {}

  std::string number(ValueId value) { return std::to_string(numbers.try_emplace(value, numbers.size()).first->second); }
  void add(const Marked& marked) {
    text += emit::filled(marked, [&](const emit::Mark& mark) {
      return mark.tensor ? "<" + number(static_cast<ValueId>(*mark.tensor)) + ">" : std::string("<>");
    });
  }
  void add(const Expression& expression, bool withTensors) {
    text += expression.callee + "(";
    for (const Marked& tensor : expression.tensors) {
      if (withTensors) add(tensor);
    }
    for (const emit::Argument& argument : expression.arguments) {
      text += argument.keyword + ":";
      add(argument.text);
    }
    text += ")";
    if (withTensors) add(expression.text);
  }
  void add(const Made& made) {
    text += fmt::format("\n{} {} ", made.name, static_cast<int>(made.kind));
    if (made.kind == Made::Kind::Operator) add(made.operation, false);
    if (made.kind == Made::Kind::Block) text += std::to_string(all.units[made.unit].block);
    for (const Made& member : made.members) add(member);
  }
  void add(const Step& step, const Unit& unit) {
    text += fmt::format("\n{} {}", static_cast<int>(step.kind), step.target);
    if (step.kind == Step::Kind::Compute && unit.isOfList && &step == &unit.steps.front())
      text += "concat";  // of as many as there are
    else if (step.kind == Step::Kind::Compute)
      add(step.expression, true);
    for (const ValueId operand : step.operands) text += " " + number(operand);
    for (const ValueId result : step.results) text += " -> " + number(result);
  }

  const Units& all;
  std::string text;
  std::map<ValueId, std::size_t> numbers;
};

/// The texts that stand in one place, by unit.
using Column = std::vector<std::string>;

std::optional<std::int64_t> integerOf(const std::string& text) {
  const bool isInteger = !text.empty() && text.size() < 18 &&
                         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return isInteger ? std::optional(std::stoll(text)) : std::nullopt;
}

/// Whether each of `column` is the same multiple (at least twice) of what stands in `base`; which.
std::optional<std::int64_t> multipleOf(const Column& column, const Column& base) {
  std::optional<std::int64_t> factor;
  for (std::size_t k = 0; k < column.size(); ++k) {
    const std::optional<std::int64_t> whole = integerOf(column[k]), part = integerOf(base[k]);
    if (!whole || !part || *part == 0 || *whole % *part != 0) return std::nullopt;
    if (factor && *factor != *whole / *part) return std::nullopt;
    factor = *whole / *part;
  }
  return factor && *factor >= 2 ? factor : std::nullopt;
}

class BlockWriter {
public:
  BlockWriter(const Exported& exported, const Units& all, const Blocks& blocks, Block& block)
      : exported(exported), all(all), blocks(blocks), block(block) {}

  void write() {
    const Unit& first = unit(0);
    block.dimensions = first.dimensions;
    names = {"x", "y", "z", "xs", "i"};
    for (const Made& made : first.made) names.insert(made.name);
    for (const Declared& weight : first.weights) names.insert(weight.name);
    for (std::size_t i = 0; i < first.inputs.size() && !first.isOfList; ++i) {
      for (std::size_t axis = 0; axis < exported[first.inputs[i]].facts.rank(); ++axis)
        names.insert(dimensionName(i, axis, exported[first.inputs[i]].facts.rank()));
    }
    for (std::size_t hole = 0; hole < first.holes.size(); ++hole) {
      Column column;
      for (std::size_t k = 0; k < block.units.size(); ++k) column.push_back(unit(k).holes[hole].text);
      block.holes.push_back(textOf(column, first.holes[hole].name));
    }
    std::vector<std::vector<const Made*>> made(block.units.size());
    for (std::size_t k = 0; k < block.units.size(); ++k) {
      for (const Made& one : unit(k).made) collect(one, made[k]);
    }
    for (std::size_t m = 0; m < made.front().size(); ++m) {
      const Block& inside = blocks.blocks[all.units[made[0][m]->unit].block];
      for (const Parameter& parameter : inside.parameters) {
        Column column;
        for (std::size_t k = 0; k < block.units.size(); ++k)
          column.push_back(parameter.values[blocks.position[made[k][m]->unit]]);
        block.arguments[made[0][m]].push_back(textOf(column, parameter.name));
      }
    }
  }

private:
  const Unit& unit(std::size_t k) const { return all.units[block.units[k]]; }
  static void collect(const Made& made, std::vector<const Made*>& into) {
    if (made.kind == Made::Kind::Block) into.push_back(&made);
    for (const Made& member : made.members) collect(member, into);
  }

  /// What stands in a place: the text that all units have, a dimension, a parameter, a multiple of either; a new parameter.
  std::string textOf(const Column& column, const std::string& wanted) {
    if (std::all_of(column.begin(), column.end(), [&](const std::string& text) { return text == column.front(); }))
      return column.front();
    for (const Parameter& parameter : block.parameters) {
      if (parameter.values == column) return parameter.name;
    }
    if (std::optional<std::string> dimension = fromDimension(column, false)) return *dimension;
    for (const Parameter& parameter : block.parameters) {
      if (const std::optional<std::int64_t> factor = multipleOf(column, parameter.values))
        return fmt::format("{} * {}", *factor, parameter.name);
      if (const std::optional<std::int64_t> part = multipleOf(parameter.values, column))
        return fmt::format("{} div {}", parameter.name, *part);
    }
    if (std::optional<std::string> dimension = fromDimension(column, true)) return *dimension;
    std::string name = nameFor(wanted, names);
    names.insert(name);
    block.parameters.push_back({name, column});
    return name;
  }

  std::optional<std::string> fromDimension(const Column& column, bool asMultiple) {
    if (unit(0).isOfList) return std::nullopt;
    for (std::size_t i = 0; i < unit(0).inputs.size(); ++i) {
      const std::size_t rank = exported[unit(0).inputs[i]].facts.rank();
      for (std::size_t axis = 0; axis < rank; ++axis) {
        Column sizes;
        for (std::size_t k = 0; k < block.units.size(); ++k) {
          const Size& size = exported[unit(k).inputs[i]].facts.shape[axis];
          sizes.push_back(size.symbolic.empty() ? std::to_string(size.number) : "");
        }
        const std::string name = dimensionName(i, axis, rank);
        const std::optional<std::int64_t> factor = asMultiple ? multipleOf(column, sizes) : std::nullopt;
        const std::optional<std::int64_t> part = asMultiple ? multipleOf(sizes, column) : std::nullopt;
        if (sizes != column && !factor && !part) continue;
        block.dimensions.emplace(i, axis);
        if (factor) return fmt::format("{} * {}", *factor, name);
        if (part) return fmt::format("{} div {}", name, *part);
        return name;
      }
    }
    return std::nullopt;
  }

  const Exported& exported;
  const Units& all;
  const Blocks& blocks;
  Block& block;
  std::set<std::string> names;
};

}  // namespace

namespace {

/// "bottleneck" of "torchvision.models.resnet.Bottleneck"; "resnet_bottleneck" where the library has that; a number behind it
/// where another block is called so, or where a unit that applies it makes something of that name (`hidden`).
std::string blockName(const ModuleCall& call, const TakenNames& taken, const std::set<std::string>& hidden) {
  const bool isContainer = call.kind.starts_with("torch.nn.modules.container.");  // a Sequential with names: what it is called
  std::string stem = nameFor(snakeCase(isContainer ? call.path : call.kind), {});
  const std::size_t dot = call.kind.rfind('.');
  if (taken.library.contains(stem) && dot != std::string::npos)
    stem = nameFor(snakeCase(call.kind.substr(0, dot)) + "_" + stem, {});
  return numberedName(stem, [&](const std::string& name) {
    return !taken.called.contains(name) && !taken.library.contains(name) && !hidden.contains(name);
  });
}

/// Adds the blocks of the units that are made there.
void addBlocksMade(const Units& units, const Made& made, std::set<std::size_t>& blocks) {
  if (made.kind == Made::Kind::Block) blocks.insert(units.units[made.unit].block);
  for (const Made& member : made.members) addBlocksMade(units, member, blocks);
}

/// By block: what units that name it more than once call what they make. A single `let convolution = convolution()` hides
/// nothing.
std::vector<std::set<std::string>> hiddenNames(const Units& units, std::size_t blockCount) {
  std::vector<std::set<std::string>> hidden(blockCount);
  for (const Unit& unit : units.units) {
    std::map<std::size_t, std::size_t> times;
    for (const Made& made : unit.made) {
      std::set<std::size_t> blocks;
      addBlocksMade(units, made, blocks);
      for (const std::size_t block : blocks) ++times[block];
    }
    for (const auto& [block, count] : times) {
      if (count == 1) continue;
      for (const Made& made : unit.made) hidden[block].insert(made.name);
    }
  }
  return hidden;
}

}  // namespace

Blocks blocksOf(const Exported& exported, Units& units, const std::string& model, TakenNames taken) {
  Blocks made;
  taken.called.insert(model);
  std::map<std::string, std::size_t> known;
  for (std::size_t at = 0; at < units.units.size(); ++at) {
    Unit& unit = units.units[at];
    const auto [block, isNew] = known.try_emplace(Signature::of(exported, units, unit), made.blocks.size());
    if (isNew) made.blocks.emplace_back().kind = unit.call->kind;
    unit.block = block->second;
    made.position.push_back(made.blocks[block->second].units.size());
    made.blocks[block->second].units.push_back(at);
  }
  const std::vector<std::set<std::string>> hidden = hiddenNames(units, made.blocks.size());
  for (std::size_t b = 0; b < made.blocks.size(); ++b) {
    Block& block = made.blocks[b];
    const bool isModel = block.units.back() + 1 == units.units.size();
    block.name = isModel ? model : blockName(*units.units[block.units.front()].call, taken, hidden[b]);
    taken.called.insert(block.name);
  }
  for (Block& block : made.blocks) BlockWriter(exported, units, made, block).write();
  return made;
}

}  // namespace tbem::imports
