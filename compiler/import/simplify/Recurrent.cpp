// Recurrent networks: one node has all layers and directions, and becomes a node for each.
#include "compiler/import/Expression.h"
#include "compiler/import/simplify/Simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tbem::imports {

namespace {

/// How PyTorch calls a kind of recurrent networks, and the language one of its layers.
struct Kind {
  std::string_view op, layer;
  std::size_t gates, states;  ///< rows of the weights, a width; tensors of the state
};
constexpr std::array<Kind, 4> kKinds = {{{"aten.lstm.input", "lstm_layer", 4, 2},
                                         {"aten.gru.input", "gru_layer", 3, 1},
                                         {"aten.rnn_tanh.input", "rnn_layer", 1, 1},
                                         {"aten.rnn_relu.input", "rnn_layer", 1, 1}}};

/// The arguments of such a node: input, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first.
struct Network {
  std::vector<ValueId> states;    ///< each [layers * directions, n, width]
  std::vector<Argument> weights;  ///< of the first layer, of its other direction, of the second ..
  bool hasBiases = true, isTwoWay = false, batchFirst = false;
  std::int64_t layers = 1;
  double dropout = 0;

  std::size_t directions() const { return isTwoWay ? 2 : 1; }
  std::size_t weightsEach() const { return hasBiases ? 4 : 2; }
};

std::optional<Network> networkOf(const Value& node, const Kind& kind) {
  if (node.arguments.size() != 9) return std::nullopt;
  const auto is = [&](std::size_t at, Argument::Kind wanted) { return node.arguments[at].kind == wanted; };
  constexpr auto kFlag = Argument::Kind::Bool;
  const bool isFormed = is(0, Argument::Kind::Value) && is(2, Argument::Kind::List) && is(3, kFlag) &&
                        is(4, Argument::Kind::Integer) && node.arguments[5].isNumber() && is(7, kFlag) && is(8, kFlag);
  if (!isFormed) return std::nullopt;
  Network network;
  const std::vector<Argument> states =
      is(1, Argument::Kind::List) ? node.arguments[1].items : std::vector<Argument>{node.arguments[1]};
  for (const Argument& state : states) {
    if (state.kind != Argument::Kind::Value) return std::nullopt;
    network.states.push_back(state.value);
  }
  network.weights = node.arguments[2].items;
  network.hasBiases = node.arguments[3].integer != 0;
  network.layers = node.arguments[4].integer;
  network.dropout = node.arguments[5].real;
  network.isTwoWay = node.arguments[7].integer != 0;
  network.batchFirst = node.arguments[8].integer != 0;
  const auto isWeight = [](const Argument& one) { return one.kind == Argument::Kind::Value; };
  // More weights a layer are those of projections (proj_size), which no layer here has.
  const bool isWhole =
      network.layers >= 1 && network.states.size() == kind.states &&
      network.weights.size() == static_cast<std::size_t>(network.layers) * network.directions() * network.weightsEach() &&
      std::ranges::all_of(network.weights, isWeight) && node.parts.size() == kind.states + 1;
  return isWhole ? std::optional(network) : std::nullopt;
}

/// Writes the values anew, with the layers of a network in its place. One class: each new node needs its numbers.
class LayerWriter {
public:
  explicit LayerWriter(Exported& exported) : exported(exported) {}

  void run() {
    std::vector<Value> before = std::move(exported.values);
    std::vector<ValueId> by(before.size());
    std::map<std::size_t, std::vector<ValueId>> results;  // by network that was taken apart
    for (std::size_t at = 0; at < before.size(); ++at) {
      Value& value = before[at];
      const std::optional<std::size_t> taken = takenPart(value, results);
      if (taken) {
        const auto part = static_cast<std::size_t>(value.arguments[1].integer);
        by[at] = results.at(*taken)[part];
        continue;
      }
      for (Argument& argument : value.arguments) replace(argument, by);
      for (auto& [name, argument] : value.named) replace(argument, by);
      const auto kind = std::ranges::find(kKinds, value.op, &Kind::op);
      const std::optional<Network> network =
          value.kind == Value::Kind::Node && kind != kKinds.end() ? networkOf(value, *kind) : std::nullopt;
      if (network && isSized(value, *network)) {
        results.emplace(at, take(value, *kind, *network));
        by[at] = results.at(at).front();
      } else {
        by[at] = static_cast<ValueId>(exported.values.size());
        exported.values.push_back(std::move(value));
      }
    }
    for (ValueId& input : exported.inputs) input = by[index(input)];
    for (Output& output : exported.outputs) output.value = by[index(output.value)];
  }

private:
  /// The network of which the value is a result.
  static std::optional<std::size_t> takenPart(const Value& value, const std::map<std::size_t, std::vector<ValueId>>& results) {
    if (value.kind != Value::Kind::Node || wordOf(value) != "getitem" || value.arguments.size() < 2) return std::nullopt;
    const Argument& list = value.arguments[0];
    if (list.kind != Argument::Kind::Value || value.arguments[1].kind != Argument::Kind::Integer) return std::nullopt;
    const auto network = results.find(index(list.value));
    const std::int64_t part = value.arguments[1].integer;
    const bool isOne = network != results.end() && part >= 0 && static_cast<std::size_t>(part) < network->second.size();
    return isOne ? std::optional(network->first) : std::nullopt;
  }

  bool isSized(const Value& node, const Network& network) const {
    const auto rank = [&](ValueId value) { return exported[value].facts.rank(); };
    return rank(node.arguments[0].value) == 3 &&
           std::ranges::all_of(network.states, [&](ValueId one) { return rank(one) == 3; }) &&
           std::ranges::all_of(network.weights, [&](const Argument& one) { return rank(one.value) >= 1; });
  }

  /// The results: the output at every step, and each tensor of the last state.
  std::vector<ValueId> take(const Value& node, const Kind& kind, const Network& network) {
    ValueId x = node.arguments[0].value;
    if (!network.batchFirst) x = exchanged(node, x);
    std::vector<std::vector<ValueId>> last(kind.states);
    for (std::int64_t layer = 0; layer < network.layers; ++layer) {
      std::vector<ValueId> outputs;
      for (std::size_t direction = 0; direction < network.directions(); ++direction) {
        const std::size_t number = static_cast<std::size_t>(layer) * network.directions() + direction;
        const std::vector<ValueId> made = addLayer(node, kind, network, x, number);
        outputs.push_back(made.front());
        for (std::size_t s = 0; s < kind.states; ++s) last[s].push_back(made[s + 1]);
      }
      x = outputs.front();
      if (outputs.size() > 1) {
        Facts facts = exported[x].facts;
        facts.shape[2].number *= 2;
        x = add(node, "aten.cat.default", {valuesArgument(outputs), integerArgument(2)}, facts);
      }
      if (network.dropout > 0 && layer + 1 < network.layers)
        x = add(node, "aten.dropout.default", {valueArgument(x), realArgument(network.dropout), flagArgument(false)},
                Facts(exported[x].facts));
    }
    std::vector<ValueId> results{network.batchFirst ? x : exchanged(node, x)};
    for (std::size_t s = 0; s < kind.states; ++s)
      results.push_back(add(node, "aten.stack.default", {valuesArgument(last[s]), integerArgument(0)},
                            Facts(exported[network.states[s]].facts)));
    return results;
  }

  /// One layer in one direction: its output, and its last state.
  std::vector<ValueId> addLayer(const Value& node, const Kind& kind, const Network& network, ValueId x, std::size_t number) {
    std::vector<Argument> arguments{valueArgument(x)};
    for (const ValueId state : network.states) arguments.push_back(valueArgument(stateOf(node, state, number)));
    Facts state = exported[arguments[1].value].facts, output = exported[x].facts;
    output.shape[2] = state.shape[1];
    const std::size_t first = number * network.weightsEach();
    for (std::size_t w = 0; w < 4; ++w) arguments.push_back(w < network.weightsEach() ? network.weights[first + w] : Argument());
    arguments.push_back(flagArgument(network.isTwoWay && number % 2 == 1));
    arguments.push_back(flagArgument(kind.op == "aten.rnn_relu.input"));
    const ValueId list = add(node, fmt::format("tbem.{}.default", kind.layer), std::move(arguments), {});
    std::vector<std::optional<Facts>> parts{output};
    parts.resize(kind.states + 1, state);
    exported.values[index(list)].parts = parts;
    std::vector<ValueId> made;
    for (std::size_t part = 0; part < parts.size(); ++part)
      made.push_back(
          add(node, "getitem.default", {valueArgument(list), integerArgument(static_cast<std::int64_t>(part))}, *parts[part]));
    return made;
  }

  /// The first state of one layer. One number stands for all elements where all layers have it.
  ValueId stateOf(const Value& node, ValueId all, std::size_t number) {
    Facts facts = exported[all].facts;
    facts.shape.erase(facts.shape.begin());
    if (exported[all].pattern.kind == Pattern::Kind::Fill) {
      Value state = exported[all];
      state.name = nameAt(node);
      state.facts = std::move(facts);
      return add(std::move(state));
    }
    const auto place = static_cast<std::int64_t>(number);
    return add(node, "aten.select.int", {valueArgument(all), integerArgument(0), integerArgument(place)}, facts);
  }

  /// Steps and samples.
  ValueId exchanged(const Value& node, ValueId x) {
    Facts facts = exported[x].facts;
    std::swap(facts.shape[0], facts.shape[1]);
    return add(node, "aten.transpose.int", {valueArgument(x), integerArgument(0), integerArgument(1)}, facts);
  }

  static Argument valuesArgument(const std::vector<ValueId>& values) {
    Argument list;
    list.kind = Argument::Kind::List;
    for (const ValueId value : values) list.items.push_back(valueArgument(value));
    return list;
  }

  std::string nameAt(const Value& node) const { return fmt::format("{}_{}", node.name, exported.values.size()); }
  ValueId add(Value value) {
    exported.values.push_back(std::move(value));
    return static_cast<ValueId>(exported.values.size() - 1);
  }
  /// A node where `node` was.
  ValueId add(const Value& node, std::string op, std::vector<Argument> arguments, Facts facts) {
    Value made;
    made.name = nameAt(node);
    made.facts = std::move(facts);
    made.op = std::move(op);
    made.arguments = std::move(arguments);
    made.modules = node.modules;
    made.place = node.place;
    made.origin = node.op;
    return add(std::move(made));
  }

  Exported& exported;
};

}  // namespace

void takeLayersApart(Exported& exported) { LayerWriter(exported).run(); }

}  // namespace tbem::imports
