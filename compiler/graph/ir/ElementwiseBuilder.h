// Builds one element-wise operator: operands, with how they are read, and nodes, each made once. It knows shapes as expressions,
// but no declarations; what is wrong with an operand it hands back.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/graph/ir/GraphBuilder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::graph {

/// Of the first `random()` of an application with this path (ElemNode::stream); that of a later one is this and what the
/// application counts.
std::uint64_t randomStream(std::string_view path);

class ElementwiseBuilder {
public:
  using Node = std::uint32_t;
  /// Names of dimensions: "n", "s#0"; "" where there is none.
  using Names = std::vector<std::string>;

  /// An operator whose results have this shape, of dimensions with these names. `path`: of its application, from which random
  /// numbers are drawn.
  ElementwiseBuilder(GraphBuilder& graph, sema::ExprPool& pool, std::vector<ExprId> shape, Names names, std::string_view path);

  const std::vector<ExprId>& shape() const { return shapeOfResults; }

  /// An operation on nodes; a second use of `random()` draws other numbers than the first.
  Node operation(ElemOp op, Node a = 0, Node b = 0, Node c = 0);
  Node constant(Rational value);
  /// A number of the step.
  Node scalar(ExprId value);
  /// Where the element stands along this dimension of the result.
  Node coordinate(std::uint32_t dimension);

  /// How an operand is read: by the names of its dimensions where the result has them, else aligned on the right as NumPy does.
  struct Alignment {
    ElemOperand operand;  ///< dimensions with an axis are as long as the result's there, which the caller sees to
    enum class Fault : std::uint8_t {
      None,
      Ambiguous,
      TooManyDimensions
    } fault = Fault::None;  ///< of the dimension behind those
    std::string why;        ///< Ambiguous
  };
  Alignment align(const std::vector<ExprId>& operand, const Names& namesOfOperand) const;
  Node operand(TensorId tensor, ElemOperand reading);

  /// The expression of the next result.
  void addRoot(Node root) { roots.push_back(root); }
  /// The operator that writes `results`, without the nodes and operands that nothing reads; its FLOPs are counted.
  Op finish(std::vector<TensorId> results);

private:
  Node add(ElemNode node, bool varies);
  std::vector<bool> usedNodes() const;
  void drop(const std::vector<bool>& used);
  std::vector<FlopPart> flopsOf(const std::vector<bool>& used);

  GraphBuilder& graph;
  sema::ExprPool& pool;
  std::vector<ExprId> shapeOfResults;
  Names names;
  std::vector<ElemNode> nodes;  ///< of the expression, as Elementwise has them
  std::vector<Node> roots;
  std::vector<ElemOperand> operands;
  std::vector<TensorId> inputs;
  std::vector<bool> varies;           ///< by node: depends on an element, not only on scalars
  std::vector<std::uint64_t> hashes;  ///< by node
  std::uint64_t stream = 0;
  std::uint64_t randoms = 0;  ///< uses of `random()` so far
};

}  // namespace tbem::graph
