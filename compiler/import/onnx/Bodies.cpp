// ONNX's nodes that hold graphs: choices and loops of which it is known when the model is read what they do. What they hold is
// put in their place.
#include "compiler/import/Units.h"
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tbem::imports {

namespace {

constexpr double kMostRounds = 1024;
constexpr std::size_t kMostNodes = std::size_t{1} << 14;  // of all that is put in the place of others

/// Names that a graph inside of a node has for tensors, and those that they have in the graph around it.
using Names = std::map<std::string, std::string>;

void rename(OnnxNode& node, const Names& names) {
  for (std::vector<std::string>* const list : {&node.inputs, &node.outputs}) {
    for (std::string& name : *list) {
      if (const auto at = names.find(name); at != names.end()) name = at->second;
    }
  }
  for (OnnxBody& body : node.bodies) {
    for (OnnxNode& inner : body.nodes) rename(inner, names);
    for (std::string& output : body.outputs) {
      if (const auto at = names.find(output); at != names.end()) output = at->second;
    }
  }
}

/// The name where it is free, else one with a number: rounds of a loop have different numbers, so few are tried.
std::string freeName(const OnnxGraph& graph, const std::string& name) {
  const auto isFree = [&](const std::string& free) { return !graph.isKnown(free) && graph.maker(free) == nullptr; };
  return isFree(name) ? name : numberedName(fmt::format("{}_{}", name, graph.adoptedCount() + 1), isFree);
}

const OnnxBody& bodyCalled(const OnnxNode& node, const char* attribute) {
  const auto at = std::ranges::find(node.bodies, attribute, &OnnxBody::attribute);
  if (at == node.bodies.end()) throw Damaged{fmt::format("it has no graph `{}`", attribute)};
  return *at;
}

/// The tensors that the graph has itself, which all rounds of a loop share.
Names ownTensors(OnnxGraph& graph, const OnnxBody& body) {
  Names names;
  for (const data::ArrayView& data : body.tensors) {
    const std::string name = names[data.name] = freeName(graph, data.name);
    graph.name(name, initialTensor(data));
  }
  return names;
}

/// Puts the nodes of `body` in the place of the node at hand. Returns the names of its results in the graph around it.
std::vector<std::string> runInPlace(OnnxGraph& graph, const OnnxBody& body, Names names) {
  const OnnxNode& holder = *graph.node;
  const std::vector<std::string> modules = graph.modules;
  std::vector<OnnxNode> nodes = body.nodes;
  for (OnnxNode& node : nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) names[output] = freeName(graph, output);
    }
    if (node.name.empty()) {  // it is of the module that its holder is of
      node.name = holder.name;
      node.scopes = holder.scopes;
    }
  }
  for (OnnxNode& node : nodes) rename(node, names);
  const auto outside = [&](const std::string& name) {
    const auto at = names.find(name);
    return at == names.end() ? name : at->second;
  };
  std::vector<std::string> results;
  std::ranges::transform(body.outputs, std::back_inserter(results), outside);
  std::map<std::string, OnnxInput> described;
  for (const auto& [name, known] : body.described) described.emplace(outside(name), known);
  const std::vector<const OnnxNode*> own = graph.adopt(std::move(nodes), results, described);
  if (graph.adoptedCount() > kMostNodes) throw NoForm{"what it holds is too much to be written out"};
  try {
    addNodes(own, graph);
  } catch (const NoForm& noForm) {
    throw NoForm{fmt::format("a node `{}` in it: {}", graph.node->op, noForm.why)};
  }
  graph.node = &holder;
  graph.modules = modules;
  return results;
}

void choice(OnnxGraph& graph) {
  const std::optional<double> condition = graph.number(0);
  if (!condition) throw NoForm{"its condition is computed when the model runs"};
  const OnnxBody& body = bodyCalled(*graph.node, *condition != 0 ? "then_branch" : "else_branch");
  if (body.outputs.size() != graph.node->outputs.size()) throw Damaged{"its graph has more results than it has, or fewer"};
  const std::vector<std::string> results = runInPlace(graph, body, ownTensors(graph, body));
  for (std::size_t number = 0; number < results.size(); ++number) graph.giveCalled(results[number], number);
}

/// The results of all rounds, one behind the other along a new first axis.
void stacked(OnnxGraph& graph, const std::vector<std::string>& rounds, std::size_t number) {
  if (rounds.empty()) throw NoForm{"it gives nothing, as it does not run"};
  Argument list;
  list.kind = Argument::Kind::List;
  Facts facts = graph.known(rounds.front()).facts;
  for (const std::string& name : rounds) {
    OnnxTensor& round = graph.known(name);
    if (round.facts.shape != facts.shape) throw NoForm{"its rounds give results of different shapes"};
    Facts part = round.facts;
    part.shape.insert(part.shape.begin(), sizeOf(1));
    list.items.push_back(valueArgument(graph.add("view.default", {valueArgument(graph.valueOf(round, name, ""))}, part)));
  }
  facts.shape.insert(facts.shape.begin(), sizeOf(static_cast<std::int64_t>(rounds.size())));
  graph.give("cat.default", {std::move(list), integerArgument(0)}, std::move(facts), number);
}

std::string knownNumber(OnnxGraph& graph, const std::string& name, std::int64_t number, const char* type) {
  OnnxTensor tensor;
  tensor.facts.type = type;
  tensor.sizes = std::vector<Size>{sizeOf(number)};
  std::string free = freeName(graph, name);
  graph.name(free, std::move(tensor));
  return free;
}

/// A loop that runs as often as the file says, each round written out.
void loop(OnnxGraph& graph) {
  const OnnxNode& node = *graph.node;
  const OnnxBody& body = bodyCalled(node, "body");
  if (node.inputs.size() < 2 || body.inputs.size() != node.inputs.size() || body.outputs.empty() ||
      body.outputs.size() != node.outputs.size() + 1 || body.outputs.size() + 1 < body.inputs.size())
    throw Damaged{"its graph has more inputs or results than it has, or fewer"};
  const std::optional<double> rounds = graph.has(0) ? graph.number(0) : std::nullopt;
  std::optional<double> goesOn = graph.has(1) ? graph.number(1) : std::optional(1.0);
  if (!rounds || !goesOn) throw NoForm{"how often it runs is computed when the model runs"};
  if (*rounds > kMostRounds) throw NoForm{fmt::format("it runs more than {} times, and is not written out", kMostRounds)};
  std::vector<std::string> kept(node.inputs.begin() + 2, node.inputs.end());  // from round to round
  std::vector<std::vector<std::string>> gathered(node.outputs.size() - kept.size());
  const Names tensors = ownTensors(graph, body);
  for (std::int64_t round = 0; static_cast<double>(round) < *rounds && *goesOn != 0; ++round) {
    Names names = tensors;
    names[body.inputs[0]] = knownNumber(graph, body.inputs[0], round, "int64");
    names[body.inputs[1]] = knownNumber(graph, body.inputs[1], 1, "bool");
    for (std::size_t i = 0; i < kept.size(); ++i) names[body.inputs[i + 2]] = kept[i];
    const std::vector<std::string> results = runInPlace(graph, body, std::move(names));
    goesOn = graph.numberCalled(results[0]);
    if (!goesOn) throw NoForm{"whether it goes on is computed when the model runs"};
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (i < kept.size())
        kept[i] = results[i + 1];
      else
        gathered[i - kept.size()].push_back(results[i + 1]);
    }
  }
  for (std::size_t number = 0; number < node.outputs.size(); ++number) {
    if (node.outputs[number].empty()) continue;
    if (number < kept.size())
      graph.giveCalled(kept[number], number);
    else
      stacked(graph, gathered[number - kept.size()], number);
  }
}

}  // namespace

const OnnxOperators& onnxBodies() {
  static const OnnxOperators kOperators = {{"If", choice}, {"Loop", loop}};
  return kOperators;
}

}  // namespace tbem::imports
