// Builds one graph by evaluating declarations. Internal to compiler/graph.
//
// Calls of operators, blocks and networks become operators of the graph. Each application of a declaration has an Activation: its
// names, the labels of its tensors' dimensions (by which element-wise operands are matched), its place in the tree of paths.
// What an operator was made from is kept (Tape.h), since its gradient is evaluated among the same names.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/elaborate/GraphBuilder.h"
#include "compiler/graph/elaborate/Tape.h"
#include "compiler/graph/elaborate/UpdateRule.h"
#include "compiler/graph/elaborate/Violation.h"
#include "compiler/graph/pass/Mutation.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbem::graph {

using sema::ExprOp;
using sema::Frame;
using sema::Local;
using sema::Value;
using sema::ValueKind;

/// An element-wise expression being built.
struct ElemBuild {
  Elementwise expression;
  std::vector<TensorId> inputs;
  std::vector<bool> varies;           ///< by node: depends on an element, not only on scalars
  std::vector<std::uint64_t> hashes;  ///< by node
  std::vector<ExprId> shape;          ///< of the result
  std::uint64_t stream = 0;
  std::uint64_t randoms = 0;  ///< uses of `random()` so far
};

/// A callable with its parameters, that owns weights.
struct Instance {
  const ast::Callable* decl = nullptr;
  const sema::Module* module = nullptr;
  std::vector<Local> parameters;
  std::string path;
  SrcRange range;
  std::vector<sema::BoundArgument> byPosition;  ///< the parameters given so, where it was made
};

/// Where names of instances are given: a block's application or a turn of a loop.
struct Place {
  std::string prefix;
  std::unordered_map<std::string, int> taken;
  std::unordered_map<const ast::For*, std::string> loops;
};

/// One application of a declaration.
struct Activation {
  Frame frame;
  const ast::Callable* decl = nullptr;
  std::string path;
  ScopeId scope{};
  SrcRange use;                  ///< the call
  SrcRange range;                ///< the innermost call in the user's own text that led here
  int rank = 0;                  ///< whose text `range` is: 2 the user's, 1 a standard network's, 0 std.nn's
  bool gradient = false;         ///< a `backward` clause is being evaluated
  TensorId culprit = kNoTensor;  ///< the first tensor given to it
  tbem_dtype dtype = TBEM_F32;   ///< of `tensor[...]` in it
  std::vector<std::pair<std::string_view, Labels>> labels;
  const Labels* labelsOf(std::string_view name) const;
};

struct ElaborateOptions {
  tbem_dtype dtype = TBEM_F32;
  bool training = false;
  Updates updates = Updates::All;
};

class Elaborator : public sema::Evaluator {
public:
  Elaborator(Session& session, const sema::Program& program, Structure& out, ElaborateOptions options);

  /// Applies a network, loss or block to tensors at the root. `name`: its path; empty: the network itself.
  Value applyRoot(const Value& callee, std::vector<Local> parameters, std::vector<Value> tensors, const std::string& name,
                  SrcRange use);
  /// The parameters of `callee` from its partial application and from the factors that bear their names.
  std::optional<std::vector<Local>> networkParameters(const Value& callee, const std::vector<Local>& factors, SrcRange use);
  /// Element type and shape of a loss's second tensor, given the network's output as its first.
  std::optional<std::pair<tbem_dtype, std::vector<ExprId>>> targetOf(const Value& loss, TensorId output, SrcRange use);
  std::optional<tbem_dtype> inputType(const ast::Parameter& tensor);
  // Gradient accumulation (Accumulate.cpp)
  /// Clause `accumulate`: into how many micro-batches it splits the batch. False after a report.
  bool splitBatch(const ast::Expr& clause, const sema::Module& module, const std::vector<Local>& factors);
  /// An input of the shape `all`, of which the network reads one micro-batch at a time, of the shape `part`: that is returned.
  TensorId addInputInParts(const std::string& name, tbem_dtype dtype, std::vector<ExprId> all, std::vector<ExprId> part,
                           SrcRange range);
  /// An input as a network reads it: the micro-batch at hand where `clause` splits the batch. Nothing after a report: it has not
  /// the samples of the first input, or they do not split. `at`: the row's levels, for that.
  std::optional<TensorId> addBatchInput(const std::string& name, tbem_dtype dtype, std::vector<ExprId> shape, SrcRange range,
                                        SrcRange clause, const std::vector<std::pair<std::string, std::string>>& at);
  std::int64_t microBatches() const { return graph.microBatches; }
  /// The shape of a micro-batch of a tensor of this shape; the other way round.
  std::vector<ExprId> shapeOfPart(std::vector<ExprId> all);
  std::vector<ExprId> shapeOfBatch(std::vector<ExprId> part);
  std::string text(ExprId id) const { return pool.str(id); }
  ExprId whole(std::int64_t value) { return pool.constant(value); }

  // Differentiation
  class Detour;
  const Tape& forwardPass() const { return tape; }
  GraphBuilder& graphBuilder() { return builder; }
  DiagnosticSink& diagnostics() { return sink; }
  /// An optimiser with its parameters; its schedules are applied here. Nothing after a report.
  std::optional<UpdateRule> updateRule(const Value& optimizer, SrcRange use);
  /// The weight's value after its update; kNoTensor: it has none. Nothing after a report.
  std::optional<TensorId> update(const UpdateRule& rule, TensorId weight, TensorId gradient);
  const sema::Evaluator& evaluator() const { return *this; }
  using sema::Evaluator::bind;
  using sema::Evaluator::coerce;
  using sema::Evaluator::fail;
  using sema::Evaluator::peek;

  /// The row at hand, for reports: the level of every factor, and the factors whose levels steer the structure from the start.
  std::vector<std::pair<std::string, std::string>> levels;
  std::vector<std::string> steering;

protected:
  // What evaluation leaves to an elaboration (Elaborate*.cpp, Elementwise*.cpp, Gates.cpp)
  Value runtimeBinary(const ast::Binary& expr, Value left, Value right) override;
  Value runtimeUnary(const ast::Unary& expr, Value operand) override;
  Value runtimeSelect(const ast::IfExpr& expr, Value condition) override;
  std::optional<Value> elementwiseCall(std::string_view name, const ast::Call& call) override;
  Value applyCallable(const ast::Expr& use, const Value& callee, sema::Arguments arguments) override;
  Value runtimeMember(const ast::Member& expr, const Value& object) override;
  Value skip(const ast::Skip& expr) override;
  bool exitStatement(const ast::Exit& statement) override;
  bool weightStatement(const ast::WeightStmt& statement) override;
  bool assignBuffer(Local& local, Value value, SrcRange range) override;
  std::size_t enterTurn(const ast::For& loop, std::size_t turn) override;
  bool leaveTurn(const ast::For& loop) override;
  void naming(const ast::Expr& value, std::string_view name) override;
  std::optional<Value> specialName(std::string_view name) override;
  std::optional<std::vector<Value>> shapeOf(const Value& tensor) override;
  Value evaluateArgument(const ast::Expr& expr) override;
  void annotate(Diagnostic& diagnostic) override;
  bool require(sema::Requirement kind, ExprId condition, const ast::Expr& text, SrcRange use, std::string_view subject,
               const std::string& message) override;

private:
  friend class BackwardClause;

  // Applying (ElaborateApply.cpp)
  Value applyTo(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters, std::vector<Value>& tensors,
                const std::string& path, SrcRange use);
  Value applyOnce(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                  std::vector<Value>& tensors, const std::string& path, SrcRange use);
  Value runActivation(Activation& a, std::vector<Value>& tensors);
  bool bindTensors(Activation& a, std::vector<Value>& tensors);
  bool bindTensor(Activation& a, const ast::Parameter& declared, const Value& value);
  bool bindValue(Activation& a, const ast::Type& declared, const Value& value, std::string_view name, Labels& labels);
  bool checkType(Activation& a, tbem_dtype wanted, TensorId tensor, std::string_view name);
  bool bindShape(Activation& a, const ast::TensorType& type, TensorId tensor, std::string_view name, Labels& labels);
  bool requireCondition(Activation& a, sema::Requirement kind, const ast::Expr& condition);
  bool checkConditions(Activation& a);
  bool checkRequirement(Activation& a, const ast::Expr& expr, sema::Requirement kind);
  bool definePosts(Activation& a, std::vector<const ast::Expr*>& remaining);
  bool checkPosts(Activation& a, const std::vector<const ast::Expr*>& remaining, const std::vector<Value>& results);
  Value runBody(Activation& a);
  Value runBodyWithGradient(Activation& a);
  Value bindResults(Activation& a, Value result);
  bool bindResult(Activation& a, const ast::Result& declared, const ast::TensorType& type, TensorId tensor, std::size_t position);
  std::uint32_t makeInstance(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                             std::string_view name, SrcRange range);
  /// Whether the call has its parameters in the order of PyTorch's module of that name, which was then reported; a warning where
  /// it has a meaning here, too. `parameters`: those of the call, or of the instance that is called.
  bool inPyTorchOrder(const ast::Callable& decl, const sema::Module& module, const sema::Arguments& arguments,
                      const std::vector<sema::BoundArgument>& parameters);
  void instantiateParameters(Activation& a);
  void countAxesFromEnd(Activation& a, const std::vector<Value>& tensors);

  // Templates of templates (ElaborateMutation.cpp)
  std::vector<PathPart> placeOf(const sema::Module& module, const ast::Expr& expr);
  std::optional<Change> readChange(const sema::Derivation& made, const ast::Mutate::Operation& operation, Value level);
  bool beginMutations(const ast::Callable& decl, std::vector<Local>& parameters, const std::string& path);
  void endMutations(std::size_t before, bool complete);
  std::vector<PathPart> partsBelow(const Mutation& mutation, const std::string& path) const;
  std::vector<Change*> changesAt(const std::string& path, std::string_view declaration);
  Value cannotChange(const Change& change, const std::string& why);
  Value applyInserted(Change& change, Value tensor);
  std::vector<Change*> widen(const ast::Callable& decl, std::vector<Local>& parameters, const std::string& path);
  Value applyChanged(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                     std::vector<Value>& tensors, const std::string& path, SrcRange use);
  Value swapped(Value callee, std::string_view wantedName, sema::Arguments& arguments);
  Local* carriedBy(const ast::For& loop, const Change& change);
  bool insertInTurn(const ast::For& loop, Change& change);
  std::size_t changeTurn(const ast::For& loop);
  bool endTurn(const ast::For& loop);

  // Shapes (ElaborateShapes.cpp)
  bool agree(ExprId a, ExprId b, const std::string& name, SrcRange range, SrcRange there);
  /// Levels that matter to a condition: of its symbols, and those that steered the elaboration so far.
  std::vector<std::pair<std::string, std::string>> levelsFor(ExprId condition) const;
  std::optional<std::vector<ExprId>> shapeFromType(Activation& a, const ast::TensorType& type, Labels& labels,
                                                   std::string_view owner);
  std::optional<tbem_dtype> dtypeFromType(Activation& a, const ast::TensorType& type);
  void collectBindings(const ast::Expr& text, Obligation& obligation) const;
  void bindShapes(std::string_view name, const Value& value, Obligation& obligation) const;

  // Leaves (ElaborateOperator.cpp, ElaborateOwn.cpp, ElaborateWeights.cpp)
  bool makeWeight(Activation& a, const ast::WeightStmt& weight);
  std::optional<Init> readInit(const ast::Expr* init);
  Value runLeaf(Activation& a);
  bool makeResults(Activation& a, std::vector<TensorId>& results);
  bool runOwn(Activation& a, const std::vector<TensorId>& results);
  bool ownParameters(Activation& a, Op& op);
  bool ownWorkspace(Activation& a, OwnCode& own);
  bool runNative(Activation& a, const std::vector<TensorId>& results);
  bool runElementwise(Activation& a, const std::vector<TensorId>& results);
  bool runUpdates(Activation& a);
  bool countFlops(Activation& a, Op& op);
  std::optional<Value> nativeAttribute(Activation& a, std::string_view name);
  bool nativeAttributes(Activation& a, std::string_view table, std::string_view scalars, Op& op);
  /// An operator of an activation, which it is differentiated by.
  OpId addOp(Op op, const Activation& a);

  // Element-wise expressions (Elementwise.cpp, ElementwiseFinish.cpp)
  void beginElementwise(ElemBuild& build, Activation& a, const Labels& resultLabels);
  bool addOperand(ElemBuild& build, TensorId tensor, const Labels& labels, const Labels& resultLabels, std::string_view name,
                  Value& out);
  Value elemNode(ElemOp op, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0);
  Value elemLeaf(ElemNode node, bool varies);
  std::optional<std::uint32_t> asElem(const Value& value, SrcRange range);
  Value elemCoordinate(const ast::Call& call);
  Value elemBinary(const ast::Binary& expr, const Value& left, const Value& right);
  /// Evaluates the expressions over the activation's tensors and makes one operator that writes `results`.
  std::optional<Op> buildElementwise(Activation& a, const std::vector<const ast::Expr*>& parts,
                                     const std::vector<TensorId>& results, const Labels& resultLabels);
  void pruneElementwise(ElemBuild& build, Op& op);
  void countElementwise(const ElemBuild& build, Op& op);
  Value tensorBinary(const ast::Binary& expr, const Value& left, const Value& right);
  Value callNamed(std::string_view name, std::vector<Value> tensors, std::vector<std::pair<std::string_view, Value>> parameters,
                  SrcRange use);
  Value copyOf(TensorId tensor, SrcRange range);

  // Gates (Gates.cpp)
  std::optional<TensorId> gateCondition(const ast::Expr& expr, const char* gate);
  std::optional<TensorId> checkCondition(const Value& value, SrcRange range, const char* gate);
  std::optional<TensorId> exitCondition(const ast::Exit& statement, std::optional<TensorId>& score);
  Value gateArm(const ast::Expr& expr, OpId owner);
  bool keepBest(TensorId score, TensorId value, SrcRange range);
  Value join(OpId gate, const std::vector<TensorId>& inputs, TensorId model, SrcRange range);
  Value joinExits(Activation& a, Value last);

  // Places
  std::string freshName(std::string_view name);
  /// What freshName would give, which it does not take.
  std::string nextName(std::string_view name) const;
  std::string pathOf(const std::string& name) const;

  // Gradients and updates (BackwardClause.cpp, Optimizer.cpp)
  /// In a gradient: whether the expression has no call but of element-wise words, and a tensor.
  bool isElementwiseExpr(const ast::Expr& expr) const;
  bool mentionsTensor(const ast::Expr& expr) const;
  /// The one operator of an element-wise expression in a gradient.
  bool addGradientPart(Activation& a, const ast::Expr& expr, TensorId result, const Labels& labels);
  /// `gradient_norm` in an optimiser's update: the Euclidean norm of all weights' gradients together, a scalar made on first use.
  Value gradientNorm();

  Phase phase() const { return builder.stamp.phase; }

  Session& session;
  Structure& out;
  Graph& graph;
  ElaborateOptions options;
  GraphBuilder builder;
  Tape tape;
  /// What is being evaluated; beside it, `frame`.
  struct Now {
    Activation* current = nullptr;
    ElemBuild* elem = nullptr;
    std::unordered_map<std::string, Value>* memo = nullptr;  ///< in a gradient: equal calls are made once
  };
  Now now;
  std::vector<Instance> instances;
  std::unordered_map<std::string, std::uint32_t> instanceByPath;
  std::unordered_map<std::string, TensorId> weightByPath;
  std::unordered_map<std::uint32_t, TensorId> latest;  ///< of a buffer's or state's storage: its newest value
  std::vector<Place> places;
  std::vector<const ast::Callable*> applying;
  std::deque<Mutation> mutations;        ///< of the derived templates being applied; a deque, since changes are pointed at
  std::vector<TensorId> exits;           ///< values of the exits met so far
  TensorId normOfGradients = kNoTensor;  ///< made on first use
  bool updated = false;                  ///< a weight
  struct Best {
    TensorId score = kNoTensor, value = kNoTensor;
  };
  Best best;  ///< `fallback best`: the largest score of the exits met so far, and its value
  const ast::Expr* namedValue = nullptr;
  std::string_view pendingName;
};

/// Evaluation that goes elsewhere for a while: when it ends, all that says where an evaluation stands is as it was before.
class Elaborator::Detour {
public:
  explicit Detour(Elaborator& e)
      : e(e), frame(e.frame), now(e.now), stamp(e.builder.stamp), places(e.places.size()), applying(e.applying.size()) {}
  /// Into another phase, where names of instances are given anew.
  Detour(Elaborator& e, Phase phase) : Detour(e) {
    e.builder.stamp = {phase, kNoOp, e.builder.stamp.region};
    e.places.emplace_back();
  }
  ~Detour() {
    e.frame = frame;
    e.now = now;
    e.builder.stamp = stamp;
    while (e.places.size() > places) e.places.pop_back();
    e.applying.resize(applying);
  }
  Detour(const Detour&) = delete;
  Detour& operator=(const Detour&) = delete;

private:
  Elaborator& e;
  Frame* frame;
  Now now;
  GraphBuilder::Stamp stamp;
  std::size_t places, applying;
};

std::uint64_t hashText(std::string_view text);
/// `exp`, `maximum`, `random` ...: words of element-wise expressions.
bool isElementwiseWord(std::string_view name);
/// `tensor` without brackets: of any shape.
bool isAnyTensor(const ast::Type* type);

}  // namespace tbem::graph
