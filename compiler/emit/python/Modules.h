// The modules of a network with the steps of their forward passes, in a framework's words.
#pragma once

#include "compiler/emit/python/Code.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tbem::emit {

/// A framework: what it has, and how that is written.
struct Dialect {
  std::function<tl::expected<Code, Refusal>(const graph::Call&, Scribe&)> call;  ///< one that it knows
  std::function<tl::expected<Code, Refusal>(const graph::Op&, Scribe&)> op;
  std::function<CallText(const graph::Tensor&, Scribe&)> weight;  ///< a module's own, filled as its declaration says
  /// How the network gives a result that it does not give as it has it; empty: it gives all so.
  std::function<std::optional<Code>(graph::TensorId, Scribe&)> result;
  std::string identity;    ///< the constructor of a module that gives on what it is given: "nn.Identity()"
  std::string moduleList;  ///< "nn.ModuleList"; empty: a list of Python
  TakenWords taken;
};

/// The arms of a gate, as functions. Their steps follow the gate's, those of the first arm before those of the second.
struct StepArms {
  std::array<std::size_t, 2> counts{};  ///< of their steps
  std::array<graph::TensorId, 2> outputs{};
  std::vector<graph::TensorId> operands, captured;  ///< GateArms
  std::size_t all() const { return counts[0] + counts[1]; }
};

/// A step of a class's forward pass.
struct Step {
  std::vector<graph::TensorId> operands;  ///< of a module: what it is called with
  std::vector<graph::TensorId> results;
  std::string attribute;             ///< of a module or loop; empty: an expression alone
  Code code;                         ///< of an expression, and of a module that the framework has
  std::vector<std::size_t> modules;  ///< positions of the module inside, or of a loop's turns
  bool isLoop = false;
  /// Of a loop whose turns are called one after the other: operand p of the next turn is result carried[p] of the one before; -1:
  /// the same tensor in all turns. Empty: each turn is a step of its own.
  std::vector<std::int64_t> carried;
  std::vector<std::size_t> holes;  ///< of the code: positions in Module::holes
  bool isHeld = false;             ///< a module that others apply: it is an attribute, and no step
  std::string borrowed;            ///< path of the module that is applied, where an outer one holds it
  std::vector<std::string> lent;   ///< paths of modules that the module is given as well
  bool isGate = false;
  std::optional<StepArms> arms;            ///< of a gate
  std::vector<graph::TensorId> takesOver;  ///< by result: the operand whose name it has; empty: results have names of their own
};

struct Module {
  const ModuleNode* node = nullptr;
  std::vector<Hole> holes;
  std::vector<std::pair<std::string, CallText>> weights;  ///< its own, by name
  std::vector<Step> steps;
  std::vector<graph::TensorId> outputs;
  /// What a step gives on as it is given it, such as a shortcut that is none, is a tensor of its own here: of which in the graph.
  std::map<graph::TensorId, graph::TensorId> aliases;
  std::size_t type = 0;  ///< position of its class
};

/// The tensors that a step reads, in the order in which its text names them; one that it names twice stands there twice.
std::vector<graph::TensorId> operandsOf(const Step& step);
/// The modules of the tree: those inside of others before them, the network last.
tl::expected<std::vector<Module>, Refusal> readModules(const graph::Graph& graph, const ModuleNode& root, const Dialect& dialect);
/// What a module does, but for numbers and the modules inside: equal for objects of one class.
std::string signatureOf(const graph::Graph& graph, const Module& module);

}  // namespace tbem::emit
