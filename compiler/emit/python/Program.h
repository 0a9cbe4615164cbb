// The parts that programs of all frameworks have: classes of a row's modules, the task's loss, what is left out.
#pragma once

#include "compiler/emit/python/Classes.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::emit {

/// Clauses of a design that say how a step computes what its graph says.
struct StepClauses {
  std::optional<tbem_dtype> mixed;
  bool checkpoint = false;
  GateForm gates = GateForm::Masks;
  bool turns = false;
};
StepClauses stepClauses(const graph::ExperimentSpec& spec, GateForm gates);

struct Emitted {
  std::string text;
  std::vector<Refusal> leftOut;  ///< what the program does without, and may compute otherwise for that
};

/// How messages call a framework, what `mixed` is written as in it, and whether gates and `math tf32` are.
struct Framework {
  std::string_view name;   ///< "PyTorch"
  std::string_view mixed;  ///< "autocast"
  bool hasGates = false;
  bool hasTf32 = false;
};

/// The network's classes, and the tree whose nodes their modules point to.
struct NetworkClasses {
  std::unique_ptr<ModuleNode> tree;
  Classes classes;
};
/// The source's graph is the row's, and its calls are those of the row's structure (ExperimentOptions::recordCalls).
tl::expected<NetworkClasses, Refusal> networkClasses(const graph::Row& row, const StepClauses& clauses,
                                                     const Framework& framework, const ModuleSource& source,
                                                     const IsKnown& isKnown, const Dialect& dialect);
/// Operators and blocks of a program's own whose `backward` a training step has: a framework's gradient is of what they compute.
std::vector<Refusal> ownGradients(const graph::Row& row, const Framework& framework);
/// Whether a text has the name of an imported module, and not the end of another name.
bool readsModule(std::string_view text, std::string_view name);

/// Names of the network's inputs; its target is none.
std::vector<std::string> inputNames(const graph::Row& row, const TakenWords& taken);
/// The call of the task's loss; nullptr: there is no task.
const graph::Call* lossOf(const graph::Row& row);
/// Why the task's loss is more than one call of one result and one target: it takes several of them, or is a sum over exits, with
/// weights, or with what a reward makes of drawn gates. Nothing: a program can write it.
std::optional<Refusal> severalLosses(const graph::Row& row, const graph::Call& loss);
/// The loss as an expression of `output` and a target of this name.
std::string lossText(const graph::Call& loss, const Code& code, const std::vector<Hole>& holes, const std::string& target);

}  // namespace tbem::emit
