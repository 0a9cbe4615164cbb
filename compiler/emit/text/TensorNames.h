// Names for what a function of a class reads and makes: tensors, and modules that it is given. Internal to compiler/emit/text.
#pragma once

#include "compiler/emit/text/ClassText.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::emit {

/// Steps [begin, end) of a module without those in arms of gates among them, which are functions of their own.
struct FunctionSteps {
  std::size_t begin = 0, end = 0;
  std::vector<graph::TensorId> outputs;
};
/// The step of the same function behind the one at `place`.
std::size_t nextStep(const Module& module, std::size_t place);

/// A result takes over the name of an operand that is not read again.
class TensorNames {
public:
  /// `outer`: of the function in which this one stands, whose names it reads; nullptr: it is the forward pass.
  TensorNames(const graph::Graph& graph, const Module& module, const ClassWords& words, const FunctionSteps& steps,
              const TensorNames* outer = nullptr);

  std::string nameInput(std::size_t k);
  void give(graph::TensorId tensor, std::string name) { names[tensor] = std::move(name); }
  std::string fresh(const std::string& wanted) { return freshName(taken, wanted); }
  /// The name of a module that the function is given.
  std::string nameModule(const std::string& path);

  /// Of a tensor that has a name, or of a weight.
  std::string of(graph::TensorId tensor) const;
  /// Of a module that the function is given, or that the class holds.
  std::string ofModule(const std::string& path) const;
  bool isRead(graph::TensorId tensor) const { return uses.contains(tensor); }
  bool isReadOnceAt(graph::TensorId tensor, std::size_t place) const {
    return uses.contains(tensor) && uses.at(tensor) == 1 && lastUse.at(tensor) == place;
  }
  /// Whether a name of its own is free behind the step.
  bool endsAt(graph::TensorId tensor, std::size_t place) const { return names.contains(tensor) && lastUse.at(tensor) == place; }
  /// The name of the first operand that is read at the step for the last time; it has it no more.
  std::optional<std::string> freed(const Step& step, std::size_t place);
  /// The name of a result that has the operand's, where that is read for the last time.
  std::string takenOver(graph::TensorId operand, std::size_t place);
  /// A name for a result that takes over none.
  std::string resultName(graph::TensorId result);

private:
  bool isInput(graph::TensorId tensor) const;
  void read(graph::TensorId tensor, std::size_t place);
  std::string inputName(std::size_t k) const;
  std::string weightText(graph::TensorId tensor, std::string_view path) const;

  const graph::Graph& graph;
  const Module& module;
  const ClassWords& words;
  const TensorNames* outer;
  std::map<graph::TensorId, std::string> names;
  std::map<graph::TensorId, std::size_t> uses, lastUse;
  std::map<std::string, std::string> modules;  ///< by path
  std::set<std::string> taken;
};

}  // namespace tbem::emit
