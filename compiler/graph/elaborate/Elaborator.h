// Builds one graph by evaluating declarations. Internal to compiler/graph.
//
// Calls of operators, blocks and networks become operators of the graph. Each application of a declaration has an Activation: its
// names, the labels of its tensors' dimensions (by which element-wise operands are matched), its place in the tree of paths.
// What an operator was made from is kept (Tape.h), since its gradient is evaluated among the same names.
//
// The class is what overrides evaluation. Parts with a state of their own are classes beside it: GraphBuilder,
// ElementwiseBuilder, Paths, which know no declarations; Gates, Mutations, BackwardClause and the Differentiator, which evaluate
// through this one.
#pragma once

#include "compiler/graph/elaborate/Activation.h"
#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/elaborate/Gates.h"
#include "compiler/graph/elaborate/Mutations.h"
#include "compiler/graph/elaborate/Replay.h"
#include "compiler/graph/elaborate/Tape.h"
#include "compiler/graph/elaborate/Violation.h"
#include "compiler/graph/ir/ElementwiseBuilder.h"
#include "compiler/graph/ir/GraphBuilder.h"
#include "compiler/graph/ir/Paths.h"
#include "compiler/sema/evaluate/Evaluator.h"

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

struct ElaborateOptions {
  tbem_dtype dtype = TBEM_F32;
  bool training = false;  ///< Graph::training, and at first what the word `training` says
  /// Gates let every sample compute everything, and what is needed for gradients is kept.
  bool differentiates = false;
  const SearchSpec* search = nullptr;  ///< of a search for slow inputs
  Updates updates = Updates::All;
  bool recordCalls = false;
  bool scalesLoss = false;  ///< as differentiate/LossScale.h has it
  GateTraining gates = {};
};

/// "f32", as a program writes it.
std::string dtypeName(tbem_dtype dtype);

struct TargetType {
  tbem_dtype dtype = TBEM_F32;
  std::vector<ExprId> shape;
};

class Elaborator : public sema::Evaluator {
public:
  Elaborator(Session& session, const sema::Program& program, Structure& out, const ElaborateOptions& options);

  /// Applies a network, loss or block to tensors at the root. `name`: its path; empty: the network itself.
  Value applyRoot(const Value& callee, std::vector<Local> parameters, std::vector<Value> tensors, const std::string& name,
                  SrcRange use);
  /// The parameters of `callee` from its partial application and from the factors that bear their names.
  std::optional<std::vector<Local>> networkParameters(const Value& callee, const std::vector<Local>& factors, SrcRange use);
  /// Element type and shape of each tensor of a loss behind the network's `results`, which are its first ones. Nothing after a
  /// report.
  std::optional<std::vector<TargetType>> targetsOf(const Value& loss, const std::vector<TensorId>& results, SrcRange use);
  std::optional<tbem_dtype> inputType(const ast::Parameter& tensor);
  /// An optimiser with its parameters; its schedules are applied here. Nothing after a report.
  std::optional<UpdateRule> updateRule(const Value& optimizer, SrcRange use);
  /// The Euclidean norm of all weights' gradients together, a scalar made on first use; kNoTensor after a report.
  TensorId gradientNorm(SrcRange use);
  /// The weight's value after its update; kNoTensor: it has none. Nothing after a report.
  std::optional<TensorId> update(UpdateRule& rule, TensorId weight, TensorId gradient);

  /// The row at hand, for reports: the level of every factor, and the factors whose levels steer the structure from the start.
  std::vector<std::pair<std::string, std::string>> levels;
  std::vector<std::string> steering;

  // ---- What its parts evaluate and build with --------------------------------------------------------------------------
  class Detour;
  Session& session;
  Structure& out;
  Graph& graph;
  const ElaborateOptions options;
  GraphBuilder builder;
  Tape tape;
  Paths paths;
  Owned owned;
  GivenName named;  ///< what `naming` said last
  /// What is being evaluated; beside it, `frame`.
  struct Now {
    Activation* current = nullptr;
    ElementwiseBuilder* elem = nullptr;
    std::vector<GradientCall>* calls = nullptr;  ///< in a gradient
    bool isUpdate = false;                       ///< an optimiser moves a weight
  };
  Now now;
  bool inTraining = false;                     ///< what the word `training` says
  std::vector<const ast::Callable*> applying;  ///< the innermost last
  /// Of a network with exits that trains: the values that its exits leave with and its last result; else none.
  const std::vector<TensorId>& trainedResults() const { return gates.trainedResults(); }
  /// Of a search: the margins of the network's gates, in program order.
  const std::vector<Margin>& margins() const { return gates.margins(); }
  /// Of a network that trains by REINFORCE: what its gates drew, in program order.
  const std::vector<Drawn>& drawnGates() const { return gates.drawn(); }
  /// What is applied from here on is as at inference, but for gates, which still compute both arms (Gates::decide).
  void beAtInference() {
    inTraining = false;
    gates.decide();
  }

  using Evaluator::bind;
  using Evaluator::coerce;
  using Evaluator::evaluate;
  using Evaluator::fail;
  using Evaluator::force;
  using Evaluator::forceBool;
  using Evaluator::forceInt;
  using Evaluator::frame;
  using Evaluator::peek;
  using Evaluator::pool;
  using Evaluator::program;
  using Evaluator::sink;
  using Evaluator::told;
  using Evaluator::wrongKind;

  Phase phase() const { return builder.stamp.phase; }
  bool isMutable() const { return !mutations.empty() && phase() == Phase::Forward; }
  const Instance& instance(const Value& value) const { return owned.instances[value.id]; }
  /// An operator of an activation.
  OpId addOp(Op op, const Activation& a);
  /// The one operator of a declaration without a body, whose application ends with it: the tape takes its names over.
  void addLeaf(Op op, Activation& a);
  Value applyCallable(const ast::Expr& use, const Value& callee, sema::Arguments arguments) override;
  /// An operator of std.nn; poison after a report.
  Value libraryOperator(std::string_view name, SrcRange use);
  /// The same, applied.
  Value callNamed(std::string_view name, std::vector<Value> tensors, std::vector<std::pair<std::string_view, Value>> parameters,
                  SrcRange use);
  /// The application as it is written, without what a `mutate` changes.
  Value applyOnce(Application application);
  Value runtimeBinary(const ast::Binary& expr, const Value& left, const Value& right) override;
  /// Whether two dimensions are equal in the row at hand, which then is a condition on every row of the structure; reports where
  /// not. `name`: what they are, `there`: where it says so.
  bool agree(ExprId a, ExprId b, const std::string& name, SrcRange range, SrcRange there);
  /// In a gradient: whether the expression has no call but of element-wise words, and a tensor.
  bool isElementwiseExpr(const ast::Expr& expr) const;
  /// The one operator of an element-wise expression in a gradient.
  bool addGradientPart(Activation& a, const ast::Expr& expr, TensorId result, const Labels& labels);

protected:
  // What evaluation leaves to an elaboration (Elaborate*.cpp, Elementwise.cpp, TensorOperators.cpp)
  Value runtimeUnary(const ast::Unary& expr, const Value& operand) override;
  Value runtimeSelect(const ast::IfExpr& expr, const Value& condition) override;
  std::optional<Value> elementwiseCall(std::string_view name, const ast::Call& call) override;
  Value runtimeMember(const ast::Member& expr, const Value& object) override;
  Value skip(const ast::Skip& expr) override;
  bool exitStatement(const ast::Exit& statement) override;
  bool weightStatement(const ast::WeightStmt& statement) override;
  bool assignBuffer(Local& local, Value value, SrcRange range) override;
  std::size_t enterTurn(const ast::For& loop, std::size_t turn) override;
  bool leaveTurn(const ast::For& loop) override;
  void naming(const ast::Expr& value, std::string name) override;
  std::string givenName(const ast::Expr& value) const override;
  std::optional<Value> specialName(std::string_view name) override;
  std::optional<std::vector<Value>> shapeOf(const Value& tensor) override;
  Value evaluateArgument(const ast::Expr& expr) override;
  void annotate(Diagnostic& diagnostic) override;
  bool require(sema::Requirement kind, ExprId condition, const ast::Expr& text, SrcRange use, std::string_view subject,
               const std::string& message) override;

private:
  // Applying (ElaborateApply.cpp)
  Value apply(Application application);
  Value applyInGradient(Application application);
  bool isRecording() const { return options.recordCalls && phase() == Phase::Forward; }
  void beginCall(Call call);
  void endCall(Value result);
  Value applyHere(Application application, const Replay::Place& place, int rank);
  Value runActivation(Activation& a, const std::vector<Value>& tensors);
  bool bindTensors(Activation& a, const std::vector<Value>& tensors);
  bool bindTensor(Activation& a, const ast::Parameter& declared, const Value& value);
  bool bindValue(Activation& a, const ast::Type& declared, const Value& value, std::string_view name, Labels& labels);
  std::uint32_t makeInstance(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                             std::string_view name, SrcRange range);
  void instantiateParameters(Activation& a);
  void countAxesFromEnd(Activation& a, const std::vector<Value>& tensors);
  /// Whether the call has its parameters in the order of PyTorch's module of that name, which was then reported; a warning where
  /// it has a meaning here, too. `parameters`: those of the call, or of the instance that is called.
  bool inPyTorchOrder(const ast::Callable& decl, const sema::Module& module, const sema::Arguments& arguments,
                      const std::vector<sema::BoundArgument>& parameters);

  // Conditions, bodies and their results (ElaborateBody.cpp)
  Value runBody(Activation& a);
  Value runBodyWithGradient(Activation& a);
  Value bindResults(Activation& a, const Value& result);
  bool bindResult(Activation& a, const ast::Result& declared, const ast::TensorType& type, TensorId tensor, std::size_t position);
  Value copyOf(TensorId tensor, SrcRange range);
  bool requireCondition(Activation& a, sema::Requirement kind, const ast::Expr& condition);
  bool checkConditions(Activation& a);
  bool checkRequirement(Activation& a, const ast::Expr& expr, sema::Requirement kind);
  bool definePosts(Activation& a, std::vector<const ast::Expr*>& remaining);
  bool checkPosts(Activation& a, const std::vector<const ast::Expr*>& remaining, const std::vector<Value>& results);

  // Shapes (ElaborateShapes.cpp)
  bool checkType(Activation& a, tbem_dtype wanted, TensorId tensor, std::string_view name);
  bool bindShape(Activation& a, const ast::TensorType& type, TensorId tensor, std::string_view name, Labels& labels);
  /// Levels that matter to a condition: of its symbols, and those that steered the elaboration so far.
  std::vector<std::pair<std::string, std::string>> levelsFor(ExprId condition) const;
  std::optional<std::vector<ExprId>> shapeFromType(Activation& a, const ast::TensorType& type, Labels& labels,
                                                   const std::function<std::string()>& owner);
  std::optional<tbem_dtype> dtypeFromType(Activation& a, const ast::TensorType& type);
  void collectBindings(const ast::Expr& text, Obligation& obligation) const;
  void bindShapes(std::string_view name, const Value& value, Obligation& obligation) const;

  // Leaves (ElaborateOperator.cpp, ElaborateOwn.cpp, ElaborateWeights.cpp, Optimizer.cpp)
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
  bool evaluateUpdates(Activation& a, const std::vector<const ast::Part*>& parts, ElementwiseBuilder& build);
  bool countFlops(Activation& a, Op& op);
  std::optional<Value> nativeAttribute(Activation& a, std::string_view name);
  bool nativeAttributes(Activation& a, std::string_view table, std::string_view scalars, Op& op);

  // Element-wise expressions (Elementwise.cpp) and infix operators on whole tensors (TensorOperators.cpp)
  Value readTensor(TensorId tensor, const Labels& labels, std::string_view name);
  std::optional<std::uint32_t> asElem(const Value& value, SrcRange range);
  Value elemCoordinate(const ast::Call& call);
  Value elemBinary(const ast::Binary& expr, const Value& left, const Value& right);
  /// Evaluates the expressions over the activation's tensors: one operator that writes `results`.
  std::optional<Op> buildElementwise(Activation& a, const std::vector<const ast::Expr*>& parts,
                                     const std::vector<TensorId>& results, const Labels& resultLabels);
  std::optional<std::vector<Operand>> readOperands(Activation& a, const std::function<bool(const Local&)>& isOperand);
  bool holdsResults(const Activation& a, const Op& op);
  Value tensorBinary(const ast::Binary& expr, const Value& left, const Value& right);

  // Gradients and updates (BackwardClause.cpp, Optimizer.cpp)
  bool mentionsTensor(const ast::Expr& expr) const;
  Value readGradientNorm();  ///< `gradient_norm` in an update; poison after a report

  Mutations mutations;
  Gates gates;
  Replay replay;
  TensorId normOfGradients = kNoTensor;  ///< made on first use
  bool writesUpdates = true;             ///< an optimiser's, and not its states alone
  std::uint32_t openCall = kNoCall;      ///< the innermost call or turn of Structure::calls that has not ended
};

/// Evaluation of another place in between: a gradient's clause, an arm of a gate, an update. When it ends, all that says where an
/// evaluation stands is as it was before.
class Elaborator::Detour {
public:
  explicit Detour(Elaborator& e)
      : e(e), frame(e.frame), now(e.now), stamp(e.builder.stamp), paths(e.paths.depth()), applying(e.applying.size()) {}
  /// Into another phase, where names of instances are given anew.
  Detour(Elaborator& e, Phase phase) : Detour(e) {
    e.builder.stamp = {phase, kNoOp, e.builder.stamp.region};
    e.paths.enter("");
  }
  ~Detour() {
    e.frame = frame;
    e.now = now;
    e.builder.stamp = stamp;
    while (e.paths.depth() > paths) e.paths.leave();
    e.applying.resize(applying);
  }
  Detour(const Detour&) = delete;
  Detour& operator=(const Detour&) = delete;

private:
  Elaborator& e;
  Frame* frame;
  Now now;
  GraphBuilder::Stamp stamp;
  std::size_t paths, applying;
};

/// `exp`, `maximum`, `random` ...: words of element-wise expressions.
bool isElementwiseWord(std::string_view name);
/// Whose text a module is: 2 the user's, 1 a standard network's, 0 std.nn's.
int textRank(const sema::Module& module);
/// `tensor` without brackets: of any shape.
bool isAnyTensor(const ast::Type* type);

}  // namespace tbem::graph
