// Calls of modules with the steps of their forward passes, in the language's words: a call that becomes the application of a
// block is a unit. Internal to compiler/import.
#pragma once

#include "compiler/import/Expression.h"
#include "compiler/import/Import.h"
#include "compiler/import/ModuleCalls.h"
#include "compiler/import/Opaque.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::imports {

/// What a unit makes before its steps: an instance of an operator or of a block, or a list of these, as a Sequential is.
struct Made {
  enum class Kind : std::uint8_t { Absent, Operator, Block, List };
  Kind kind = Kind::Absent;  ///< of a list's member that no step applies
  std::string name;          ///< in the unit: "conv1"; of a list's member: ""
  Expression operation;
  std::size_t unit = 0;  ///< of a block
  std::vector<Made> members;
};

struct Step {
  enum class Kind : std::uint8_t {
    Compute,  ///< an expression
    Apply,    ///< what was made, to the operands: `target(operands)`
    Chain     ///< the members of a list, one after the other, to one operand
  };
  Kind kind = Kind::Compute;
  Expression expression;
  std::string target;      ///< "conv1", "features[3]"
  bool givesList = false;  ///< one operand that is the list of all
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::string place;  ///< "resnet.py:143"
};

/// A weight that several operators read, or one that owns none.
struct Declared {
  std::string name;
  ValueId weight;
  Marked shape;  ///< "[1, 1, 768]"
};

/// The values that a step reads, each as often as its text names it.
std::vector<ValueId> readBy(const Step& step);

struct Unit {
  const ModuleCall* call = nullptr;
  std::vector<emit::Hole> holes;
  std::vector<Declared> weights;
  std::vector<Made> made;
  std::vector<Step> steps;
  std::vector<ValueId> inputs, outputs;
  bool isOfList = false;                                     ///< its inputs are one list, `xs`
  std::set<std::pair<std::size_t, std::size_t>> dimensions;  ///< of inputs, that its steps name: input, axis
  std::size_t block = 0;                                     ///< position of the block that it is a call of
};

struct Units {
  std::vector<Unit> units;  ///< those inside of others before them; the last is the model
  std::vector<LackingOperator> lacking;
  std::vector<OpaqueOperator> opaque;  ///< those that the program declares in place of them
  std::set<std::string> fixed;         ///< sizes that depend on the inputs', and are numbers in the program: "s77 + 1"
};

/// The name, or the first of "name_2", "name_3" .. for which `isFree` holds.
std::string numberedName(const std::string& name, const std::function<bool(const std::string&)>& isFree);
/// The name of a dimension of a unit's input.
std::string dimensionName(std::size_t input, std::size_t axis, std::size_t rank);
/// "conv2d_norm_activation" of "torchvision.ops.misc.Conv2dNormActivation".
std::string snakeCase(const std::string& kind);

/// What stands for operators that have no form in the language.
enum class Unknown : std::uint8_t {
  Opaque,  ///< an opaque operator, where one can
  Lacking  ///< nothing: they are told
};
/// `operators`: names that the program calls, which units do not hide.
Units readUnits(const Exported& exported, const ModuleCall& model, const std::set<std::string>& operators, Unknown unknown);

}  // namespace tbem::imports
