// The forward pass of a class, a line a step. A step whose only result the next expression reads, and nothing else, is written in
// that. Internal to compiler/emit/text.
#pragma once

#include "compiler/emit/text/TensorNames.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::emit {

class ForwardText {
public:
  /// `takes`: by class, whether its forward pass takes the argument that is handed down.
  ForwardText(const graph::Graph& graph, const Classes& all, std::size_t at, const ClassWords& words,
              const std::vector<char>& takes);

  bool isNetwork() const { return type.objects.front() + 1 == all.modules.size(); }
  /// The first line, and the one that names the inputs of a network that come as one.
  std::string signature();
  std::string body();

private:
  using Operand = std::pair<std::string, Binding>;
  /// Statements, and the expression of what a function gives; empty: nothing.
  struct Lines {
    std::string statements, value;
  };

  /// An arm of a gate, which is a function in another one.
  ForwardText(const ForwardText& outer, const FunctionSteps& steps);

  Lines lines();
  std::string resultType() const;
  std::string line(const std::string& text) const;
  Operand operand(graph::TensorId tensor);
  Operand expression(const Step& step);
  std::string passedTo(const Step& step) const;
  std::string lentTo(const Step& step) const;
  bool isWrittenInNext(const Step& step, const Operand& value) const;
  std::string assignment(const Step& step, const std::string& value);
  std::string loop(const Step& step);
  std::string withoutRows(const Step& step, std::size_t deeper) const;
  std::string gate(const Step& step);
  std::string armText(const StepArms& arms, std::size_t arm, std::string& definitions);

  const graph::Graph& graph;
  const Classes& all;
  const Class& type;
  const Module& module;
  const ClassWords& words;
  const std::vector<char>& takes;
  const bool isPassing;
  const FunctionSteps steps;
  const std::size_t indent;
  TensorNames names;
  std::size_t place = 0;  ///< of the step at hand
  std::string freeName;   ///< of an operand of the step that is written in the next
  std::optional<std::pair<graph::TensorId, Operand>> pending;
};

}  // namespace tbem::emit
