// A model as the text of a program: its blocks, its network, its tables.
#include "compiler/import/Import.h"
#include "compiler/import/simplify/Simplify.h"
#include "compiler/import/text/BodyText.h"
#include "compiler/import/text/Remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace tbem::imports {

namespace {

/// What a block has to know of the whole model.
struct WholeModel {
  const std::vector<std::size_t>& counts;  ///< how often each value is read
  const TableTypes& tables;
};

/// A block's declaration.
class BlockText {
public:
  BlockText(const Exported& exported, const Units& units, const Blocks& all, const Block& block, const WholeModel& model)
      : exported(exported),
        makes(units, all, block),
        block(block),
        unit(units.units[block.units.front()]),
        counts(model.counts),
        tables(model.tables) {
    for (const Made& made : unit.made) values.taken.insert(made.name);
    for (const Declared& weight : unit.weights) {
      values.taken.insert(weight.name);
      values.names[weight.weight] = weight.name;
    }
    for (const Parameter& parameter : block.parameters) values.taken.insert(parameter.name);
    for (std::size_t i = 0; i < unit.inputs.size() && !unit.isOfList; ++i) {
      for (std::size_t axis = 0; axis < exported[unit.inputs[i]].facts.rank(); ++axis)
        values.taken.insert(dimensionName(i, axis, exported[unit.inputs[i]].facts.rank()));
    }
  }

  std::string declaration() {
    std::string header;
    for (std::size_t i = 0; i < unit.inputs.size() && !unit.isOfList; ++i) {
      constexpr std::array<const char*, 3> kNames = {"x", "y", "z"};
      values.names[unit.inputs[i]] = values.fresh(i < kNames.size() ? kNames[i] : fmt::format("x{}", i));
      header += (header.empty() ? "" : ", ") + values.names[unit.inputs[i]] + ": " + inputType(i);
    }
    if (unit.isOfList) header = "xs: list of tensor";
    std::string parameters;
    for (const Parameter& parameter : block.parameters)
      parameters += (parameters.empty() ? "; " : ", ") + parameter.name + ": " + typeOf(parameter.values, tables);
    return fmt::format("/// `{}`\nblock {}({}{}) {{\n{}}}\n", block.kind, block.name, header, parameters, body());
  }

  std::string network(std::vector<NetworkInput>& inputs) {
    std::string header;
    for (std::size_t i = 0; i < exported.inputs.size(); ++i) {
      const ValueId input = exported.inputs[i];
      const bool isRead = counts[index(input)] > 0;
      if (!isRead) continue;
      values.names[input] = values.fresh(nameFor(exported[input].path.empty() ? exported[input].name : exported[input].path, {}));
      header += (header.empty() ? "" : ", ") + values.names[input] + ": " + exactType(input);
      inputs.push_back({values.names[input], {}});
      for (const Size& size : exported[input].facts.shape) inputs.back().shape.push_back(size.number);
    }
    std::string results;
    for (const Output& output : exported.outputs) {
      const std::optional<std::string> type = resultType(output.value);
      if (!type) {
        results.clear();
        break;
      }
      results += (results.empty() ? "" : ", ") +
                 (exported.outputs.size() > 1 ? fmt::format("y{}: {}", &output - exported.outputs.data(), *type) : *type);
    }
    if (exported.outputs.size() > 1 && !results.empty()) results = "(" + results + ")";
    const std::string version = exported.torch.substr(0, exported.torch.find('+'));
    const std::string origin = exported.python.empty() ? version : "PyTorch " + version;
    return fmt::format("/// `{}` of {}.\nnetwork {}({}){} {{\n{}}}\n", block.kind, origin, block.name, header,
                       results.empty() ? "" : " -> " + results, body());
  }

private:
  std::string body() { return BodyText(exported, makes, block, unit, values).text(); }
  std::string word(const Facts& facts) const {
    const std::string type = typeText(facts.type);
    return type == "i64" || type == "i32" || type == "bool" ? type : "tensor";
  }
  std::string inputType(std::size_t i) const {
    const Facts& facts = exported[unit.inputs[i]].facts;
    const bool isNamed =
        std::any_of(block.dimensions.begin(), block.dimensions.end(), [&](const auto& used) { return used.first == i; });
    if (!isNamed && word(facts) == "tensor") return "tensor";
    if (!isNamed) return fmt::format("{}[..s{}]", word(facts), i == 0 ? "" : std::to_string(i + 1));
    std::string dimensions;
    for (std::size_t axis = 0; axis < facts.rank(); ++axis)
      dimensions += (axis == 0 ? "" : ", ") + dimensionName(i, axis, facts.rank());
    return fmt::format("{}[{}]", word(facts), dimensions);
  }
  /// Of the model's input: numbers, and names of the dimensions that may be any.
  std::string exactType(ValueId input) {
    const Facts& facts = exported[input].facts;
    const auto position =
        static_cast<std::size_t>(std::find(unit.inputs.begin(), unit.inputs.end(), input) - unit.inputs.begin());
    std::string dimensions;
    for (std::size_t axis = 0; axis < facts.rank(); ++axis) {
      const Size& size = facts.shape[axis];
      std::string text = std::to_string(size.number);
      if (!size.symbolic.empty()) {
        text = symbols.try_emplace(size.symbolic, dimensionName(position, axis, facts.rank())).first->second;
      }
      dimensions += (axis == 0 ? "" : ", ") + text;
    }
    return fmt::format("{}[{}]", word(facts), dimensions);
  }
  std::optional<std::string> resultType(ValueId value) const {
    std::string dimensions;
    for (const Size& size : exported[value].facts.shape) {
      const auto known = symbols.find(size.symbolic);
      if (!size.symbolic.empty() && known == symbols.end()) return std::nullopt;
      dimensions += (dimensions.empty() ? "" : ", ") + (size.symbolic.empty() ? std::to_string(size.number) : known->second);
    }
    return fmt::format("{}[{}]", word(exported[value].facts), dimensions);
  }

  const Exported& exported;
  const MadeText makes;
  const Block& block;
  const Unit& unit;
  const std::vector<std::size_t>& counts;
  const TableTypes& tables;
  ValueNames values;
  std::map<std::string, std::string> symbols;  ///< of sizes of the model's inputs
};

WeightName nameOf(const Value& weight, std::string path) {
  WeightName name{weight.path, std::move(path), {}, weight.isLearned, weight.isFrozen};
  for (const Size& size : weight.facts.shape) name.shape.push_back(size.number);
  return name;
}

/// Paths of the weights of a unit and of those inside.
void addNames(const Exported& exported, const Units& units, const Unit& unit, const std::string& path,
              std::vector<WeightName>& names);

void addNames(const Exported& exported, const Units& units, const Made& made, const std::string& path,
              std::vector<WeightName>& names) {
  if (made.kind == Made::Kind::Block) addNames(exported, units, units.units[made.unit], path, names);
  for (const auto& [own, weight] : made.operation.weights) names.push_back(nameOf(exported[weight], path + "." + own));
  for (std::size_t k = 0; k < made.members.size(); ++k)
    addNames(exported, units, made.members[k], fmt::format("{}[{}]", path, k), names);
}

void addNames(const Exported& exported, const Units& units, const Unit& unit, const std::string& path,
              std::vector<WeightName>& names) {
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const Declared& weight : unit.weights) names.push_back(nameOf(exported[weight.weight], prefix + weight.name));
  for (const Made& made : unit.made) addNames(exported, units, made, prefix + made.name, names);
}

/// Long lists of numbers become functions, which stand behind the blocks that call them. Their text; `types` gets their types.
std::string takeTables(Units& units, std::set<std::string>& called, TableTypes& types) {
  constexpr std::size_t kLong = 160;  // characters
  std::map<std::string, std::string> calls;
  std::string text;
  std::set<std::string> taken = called;  // what a unit makes hides a function of its name
  for (const Unit& unit : units.units) {
    for (const Made& made : unit.made) taken.insert(made.name);
    for (const Declared& weight : unit.weights) taken.insert(weight.name);
  }
  for (Unit& unit : units.units) {
    for (emit::Hole& hole : unit.holes) {
      if (hole.text.size() <= kLong || !hole.text.starts_with('[')) continue;
      const auto [table, isNew] = calls.try_emplace(hole.text);
      if (isNew) {
        const std::string wanted =
            nameFor(hole.name.substr(hole.name.rfind('.') == std::string::npos ? 0 : hole.name.rfind('.') + 1), {});
        const std::string name = numberedName(wanted, [&](const std::string& free) { return taken.insert(free).second; });
        called.insert(name);
        table->second = name + "()";
        types[table->second] = typeOf({hole.text}, {});
        text += fmt::format("\nfunction {} -> {} {{\n  return {}\n}}\n", table->second, types[table->second], hole.text);
      }
      hole.text = table->second;
    }
  }
  return text;
}

/// Paths of the weights that something reads. A tied weight may stand in the graph once for each of its names.
std::set<std::string> readWeights(const Exported& exported, const std::vector<std::size_t>& counts) {
  std::set<std::string> paths;
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    const Value& value = exported.values[at];
    if (value.kind == Value::Kind::Weight && counts[at] > 0) paths.insert(value.path);
  }
  return paths;
}

}  // namespace

Imported programOf(Exported given, const std::string& network, const std::set<std::string>& library, bool strict) {
  std::vector<ImportRemark> remarks = importRemarks(given);
  const Exported exported = simplified(std::move(given));
  const std::unique_ptr<ModuleCall> model = moduleCalls(exported);
  std::set<std::string> called = calledWords(exported);
  Units units = readUnits(exported, *model, called, strict ? Unknown::Lacking : Unknown::Opaque);
  for (const OpaqueOperator& op : units.opaque) called.insert(op.name);
  Imported imported;
  imported.remarks = std::move(remarks);
  imported.network = nameFor(network, called);
  imported.lacking = units.lacking;
  imported.opaque.assign(units.opaque.begin(), units.opaque.end());
  imported.fixed.assign(units.fixed.begin(), units.fixed.end());
  const std::vector<std::size_t> counts = readCounts(exported);
  const std::set<std::string> read = readWeights(exported, counts);
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    const Value& value = exported.values[at];
    if (value.kind != Value::Kind::Weight) continue;
    if (!read.contains(value.path)) imported.unread.push_back(value.path);
    if (counts[at] == 0 || !value.isLearned) continue;
    std::int64_t count = 1;
    for (const Size& size : value.facts.shape) count *= size.number;
    imported.parameters += count;
  }
  imported.state = exported.state;
  if (!imported.lacking.empty()) return imported;
  TableTypes tableTypes;
  const std::string tables = takeTables(units, called, tableTypes);
  const Blocks all = blocksOf(exported, units, imported.network, {called, library});
  for (std::size_t b = 0; b + 1 < all.blocks.size(); ++b)
    imported.text += BlockText(exported, units, all, all.blocks[b], {counts, tableTypes}).declaration() + "\n";
  imported.text += BlockText(exported, units, all, all.blocks.back(), {counts, tableTypes}).network(imported.inputs) + tables;
  for (const OpaqueOperator& op : units.opaque) imported.text += op.declaration;
  addNames(exported, units, units.units.back(), "", imported.weights);
  return imported;
}

}  // namespace tbem::imports
