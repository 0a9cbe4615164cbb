// The evaluator of elaboration time: expressions, functions, finite loops.
//
// It knows no tensors. What touches one goes to a hook that the graph's elaborator overrides. Every number is an expression
// over symbols; beside it the evaluator keeps its value in the row that is being elaborated (`shadow`), so that a loop bound or a
// condition can be forced. Forcing records the symbols: the structure then holds for rows with those values only.
#pragma once

#include "compiler/sema/Value.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbem::sema {

/// What a local is called: a view into the syntax tree, which outlives the evaluation. Every name of an expression is looked up
/// among some ten of them: what begins them is compared as one number, which tells nearly all of them apart.
class LocalName : public std::string_view {
public:
  LocalName() = default;
  template <std::convertible_to<std::string_view> Text>
  LocalName(const Text& text) : std::string_view(text), head(headOf(*this)) {}  // NOLINT(google-explicit-constructor): it is one
  bool is(const LocalName& other) const {
    return head == other.head && size() == other.size() && (size() <= sizeof head || *this == other);
  }

private:
  static std::uint64_t headOf(std::string_view text);

  std::uint64_t head = 0;  ///< its first eight bytes
};

/// A name in a body.
struct Local {
  LocalName name;
  Value value;
  SrcRange range;
  bool isVar = false;
  bool isParameter = false;
  bool isBuffer = false;
};

/// The names of one declaration's evaluation.
struct Frame {
  const Module* module = nullptr;
  const ast::Decl* decl = nullptr;
  std::vector<Local> locals;
  bool elementwise = false;  ///< names of tensors are element-wise nodes; `exp`, `maximum` ... mean operations on them
  Value result;
  const ast::Expr* returnedText = nullptr;  ///< of the `return` that ended it; null for a bare one
  bool returned = false;

  Local* find(std::string_view name);
  void define(std::string_view name, Value value, SrcRange range = {});
};

struct BoundArgument {
  std::string_view name;  ///< empty: by position
  Value value;
  SrcRange range;
};
struct Arguments {
  std::vector<BoundArgument> list;
  std::optional<std::size_t> separator;  ///< how many of `list` stand before the `;`
  bool rest = false;                     ///< `...`
  SrcRange use;                          ///< the whole call
};

/// A function of the language's own as it is called. Functions of one family share what runs them, and look at the name.
struct BuiltinCall {
  std::string_view name;
  const Arguments& arguments;
  std::size_t count() const { return arguments.list.size(); }
  const Value& operator[](std::size_t i) const { return arguments.list[i].value; }
  SrcRange range(std::size_t i) const { return arguments.list[i].range; }
  std::string quoted() const { return "`" + std::string(name) + "`"; }
};

/// What a call is bound to: tensors and parameters as declared.
struct Signature {
  std::string_view name;
  const Module* module = nullptr;
  const ast::Decl* decl = nullptr;
  std::span<const ast::Parameter> tensors;
  std::span<const ast::Parameter> parameters;
};

/// Whose value one is: a parameter's, or what the callee gives.
struct Wanted {
  std::string_view parameter;  ///< empty: the result
  std::string_view callee;
  std::string text() const;  ///< "`kernel` of `conv2d`", "the result of `half`"
};

/// RequiresOfResult: a `requires` that names dimensions of results.
enum class Requirement : std::uint8_t { Pre, Post, Requires, RequiresOfResult, Assert, Domain };

/// One class: an expression, a statement and a call evaluate each other, and elaboration overrides what touches tensors.
class Evaluator {
public:
  Evaluator(const Program& program, ExprPool& pool, DiagnosticSink& sink) : program(program), pool(pool), sink(sink) {}
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// The value of the expression in the current frame. Poison where a mistake was reported.
  Value evaluate(const ast::Expr& expr);
  /// The value of a constant at top level, evaluated at most once.
  Value constant(const Module& module, const ast::Constant& decl) { return evaluateConstant({&decl, &module}, decl.name); }
  /// In a fresh frame of `module` with these names.
  Value evaluateIn(const Module& module, const ast::Expr& expr, std::vector<Local> names);

  /// A row of the table of the language's own functions; null: there is none of that name.
  struct Builtin;
  static const Builtin* builtin(std::string_view name);

  /// Values of the symbols in the row at hand; by SymbolId.
  std::vector<std::optional<Rational>> assignment;
  /// Symbols whose values steered the elaboration, in order of first use, each once.
  std::vector<SymbolId> forced;

protected:
  // ---- Hooks of the graph ----------------------------------------------------------------------------------------------
  virtual Value runtimeBinary(const ast::Binary& expr, const Value& left, const Value& right);
  virtual Value runtimeUnary(const ast::Unary& expr, const Value& operand);
  virtual Value runtimeSelect(const ast::IfExpr& expr, const Value& condition);
  /// `exp(x)` and its like in an element-wise frame; empty name: not one of them.
  virtual std::optional<Value> elementwiseCall(std::string_view name, const ast::Call& call);
  virtual Value applyCallable(const ast::Expr& use, const Value& callee, Arguments arguments);
  virtual Value runtimeMember(const ast::Member& expr, const Value& object);
  virtual Value skip(const ast::Skip& expr);
  /// `~x`: only a process has values before.
  virtual Value oldValue(const ast::Old& expr);
  /// A call that only some evaluations know: `bound(x)` in a process. Its arguments are not evaluated yet.
  virtual std::optional<Value> specialCall(std::string_view name, const ast::Call& call);
  /// `<north>`: its text, or what stands for it where unknowns are members of enumerations.
  virtual Value enumerator(const ast::Enumerator& expr);
  /// Whether two values are equal of which one is a Word; kNoExpr where they cannot be compared.
  virtual ExprId equalWords(const Value& a, const Value& b);
  /// A process as a condition, where that is not `requires`.
  virtual Value applyProcess(const ast::Expr& use, const Value& callee, Arguments arguments);
  /// Whether no row is at hand, so that a condition over unknowns keeps both of its arms.
  virtual bool keepsArms() const { return false; }
  /// Both arms were kept as this expression.
  virtual void madeArms(ExprId made) { (void)made; }
  virtual bool exitStatement(const ast::Exit& statement);
  virtual bool weightStatement(const ast::WeightStmt& statement);
  virtual bool assignBuffer(Local& local, Value value, SrcRange range);
  /// How often the body runs in this turn: once, unless a template was made otherwise.
  virtual std::size_t enterTurn(const ast::For& loop, std::size_t turn);
  /// False ends the loop: a mistake that was reported.
  virtual bool leaveTurn(const ast::For& loop);
  /// `let name = value` is about to be evaluated: an instance made by `value` itself, or by the arm that it chooses, bears that
  /// name.
  virtual void naming(const ast::Expr& value, std::string name);
  /// The name that `naming` gave this very value last, or "". Instances that a list's elements make are named by it: "name[0]".
  virtual std::string givenName(const ast::Expr& value) const;
  /// Names that only some evaluations know: `training`, `step`.
  virtual std::optional<Value> specialName(std::string_view name);
  virtual std::optional<std::vector<Value>> shapeOf(const Value& tensor);
  /// An element of a list at a position over unknowns. Nothing: the position has to have a value.
  virtual std::optional<Value> elementAt(const Value& list, ExprId position);
  /// An argument of a call: a hook, since a gradient's arguments may be element-wise expressions.
  virtual Value evaluateArgument(const ast::Expr& expr) { return evaluate(expr); }
  /// Adds to a diagnostic what only some evaluations know: the call that led to a place in the library.
  virtual void annotate(Diagnostic& diagnostic) { (void)diagnostic; }
  /// Something that must hold. False: it does not in the row at hand, and that was reported.
  virtual bool require(Requirement kind, ExprId condition, const ast::Expr& text, SrcRange use, std::string_view subject,
                       const std::string& message);

  // ---- For the overriding class ----------------------------------------------------------------------------------------
  template <class... Args>
  Value fail(Diag kind, SrcRange range, const Args&... args) {
    ++mistakes;
    if (told(kind, range) == nullptr) annotate(sink.report(kind, range, args...));
    return {};
  }
  /// The same for a mistake that depends on the value of `on`: the levels of its symbols are named.
  template <class... Args>
  Value failAt(ExprId on, Diag kind, SrcRange range, const Args&... args) {
    ++mistakes;
    if (Diagnostic* const before = told(kind, range)) {
      Diagnostic again;
      addLevels(again, on);
      before->alsoAt(again.levels);
      return {};
    }
    Diagnostic& diagnostic = sink.report(kind, range, args...);
    annotate(diagnostic);
    addLevels(diagnostic, on);
    return {};
  }
  void addLevels(Diagnostic& diagnostic, ExprId on);
  /// Rows that make the same mistake in the same place tell it once: the diagnostic, if it was told.
  Diagnostic* told(Diag kind, SrcRange range) const;
  /// Grows with every mistake, told or not.
  std::size_t mistakeCount() const { return mistakes + sink.errorCount(); }
  Value wrongKind(SrcRange range, const std::string& who, const std::string& wants, const Value& found);

  bool executeBlock(const ast::Block& block);
  bool execute(const ast::Stmt& statement);
  /// Binds arguments to the declared parameters in `callee`; tensors go to `tensors`, in order, Poison where missing.
  bool bind(const Signature& signature, Arguments& arguments, Frame& callee, std::vector<Value>& tensors);
  /// What `bind` filled is no more used: the next one takes its memory.
  void release(std::vector<Local>& locals) {
    if (locals.capacity() == 0) return;
    locals.clear();
    spareLocals.push_back(std::move(locals));
  }
  bool notATensor(const Signature& signature, const ast::Parameter& wanted, const BoundArgument& found);
  /// The value as the declared type wants it (pairs and pads in full, axes a list); nothing after a report.
  std::optional<Value> coerce(const ast::Type& type, Value value, const Wanted& who, SrcRange range);
  /// A value, and the condition under which it is in a set.
  struct Member {
    ExprId here = kNoExpr;
    Value value;
  };
  /// Of a set, list or range; nothing after a report.
  std::optional<std::vector<Member>> members(const Value& set, SrcRange range);
  Value subset(const std::vector<Member>& list);
  ExprId lengthOf(const Value& sequence);
  /// Of a sequence or list, by a position from 0; outside of it there is no value.
  Value elementOf(const Value& sequence, ExprId position);
  Arguments evaluateArguments(const ast::Call& call, const Value* piped);
  /// `requires P(arguments)`: visits what P's `pre` says, then its `post`, whose outputs are the arguments behind the inputs; an
  /// only bool among them that is not given is true. A visit that returns false ends it. False after a report or such a visit.
  bool forEachRequired(const ast::Expr& requirement, const std::function<bool(ExprId)>& visit);
  bool fillOutputs(const ast::Process& process, std::span<const ast::Parameter> outputs, std::size_t inputs,
                   Arguments& arguments);
  bool forEachBound(const ast::Type& type, const Value& value, const std::function<bool(ExprId)>& visit);
  Value callFunction(const ast::Function& function, const Module& module, Arguments arguments);
  Value callBuiltin(std::string_view name, const Arguments& arguments) { return callBuiltin(*builtin(name), arguments); }
  Value callBuiltin(const Builtin& row, const Arguments& arguments);
  Value apply(const ast::Expr& use, const Value& callee, Arguments arguments);

  /// The value in this row, and its symbols become structural. Reports what has none.
  std::optional<Rational> force(const Value& value, SrcRange range);
  std::optional<std::int64_t> forceInt(const Value& value, const std::string& what, SrcRange range);
  /// Reports that `found` is no whole number, or one beyond 64 bits.
  void notWhole(ExprId expr, const std::string& what, const Rational& found, SrcRange range);
  std::optional<bool> forceBool(const Value& value, const std::string& what, SrcRange range);
  /// The value in this row without any effect; nothing where it has none.
  std::optional<Rational> peek(ExprId expr);
  EvalError peekError(ExprId expr);
  /// Elements of a list, tuple, set or range, ranges written out.
  std::optional<SharedVector<Value>> elements(const Value& value, SrcRange range);
  /// A list, text or record that was put together: what it copies counts as steps of evaluation, as doublings of a list
  /// would otherwise take all memory in a few dozen steps.
  Value charged(Value made);
  /// Whether two values are equal, as a truth value; kNoExpr where they cannot be compared.
  ExprId equal(const Value& a, const Value& b);
  /// Whether a parameter's value is one that its `in` allows; reports at `range` where it is not.
  bool checkDomain(const Signature& signature, const ast::Parameter& parameter, const Value& domain, const Value& value,
                   SrcRange range);
  Value makeNumber(ExprOp op, const Value& a, const Value& b, SrcRange range, SrcRange divisor);
  Value makePower(const Value& base, const Value& exponent, SrcRange range, SrcRange exponentRange);
  /// What no rational is: the nearest f64. `text`: how it is written, where it leaves the range.
  Value rounded(double value, SrcRange range, const std::string& text);
  Value makeRemainder(const Value& a, const Value& b, SrcRange range, SrcRange divisor);
  Value truth(bool value) { return Value::boolean(pool.constant(value ? 1 : 0)); }
  Value integerValue(std::int64_t value) { return Value::number(pool.constant(value)); }
  /// The condition's conjuncts, left to right. They are kept by its place in the syntax tree, which outlives the evaluation.
  const std::vector<const ast::Expr*>& conjunctsOf(const ast::Expr& condition);
  std::vector<std::string> visibleNames() const;

  const Program& program;
  ExprPool& pool;
  DiagnosticSink& sink;
  Frame* frame = nullptr;
  /// While positive, arithmetic failures are left in the expressions and not reported.
  int quiet = 0;
  std::size_t mistakes = 0;
  bool indexesShapes = false;  ///< `x[1]` is a dimension of a tensor: in `requires`

private:
  class Binding;
  /// What a name means in the module of the frame. Kept by its place in the syntax tree, which outlives the evaluation.
  Resolved resolve(const ast::NameRef& name);
  Value meaningOf(const ast::Name& name, const Resolved& found);
  Value evaluateName(const ast::NameRef& expr);
  Value evaluateMember(const ast::Member& expr);
  Value evaluateIndex(const ast::Index& expr);
  Value evaluateIf(const ast::IfExpr& expr);
  Value evaluateArms(const ast::IfExpr& expr, ExprId condition);
  Value evaluateBinary(const ast::Binary& expr);
  Value combined(const ast::Binary& node, Value left, const Value& right);
  Value evaluateLogic(const ast::Binary& expr);
  Value evaluateComparison(const ast::Binary& expr, const Value& left, const Value& right);
  Value evaluateUnary(const ast::Unary& expr);
  Value evaluateUnit(const ast::Unit& expr);
  Value evaluateNumber(const ast::Number& expr);
  Value evaluateItems(const ast::Expr& expr, std::span<const ast::Expr* const> items, ValueKind kind);
  Value evaluateComprehension(const ast::Comprehension& expr);
  Value evaluateRange(const ast::Range& expr);
  Value evaluateQuantifier(const ast::Quantifier& expr);
  Value evaluateRecord(const ast::Record& expr);
  Value evaluateCall(const ast::Call& expr, const Value* piped);
  Value notCallable(const ast::Expr& use, const Value& callee);
  Value evaluatePipe(const ast::Pipe& expr);
  Value evaluateConstant(const Resolved& what, const ast::Name& name);
  ExprId contains(const std::vector<Member>& set, const Value& value);
  ExprId insideRange(const Value& range, ExprId number);
  ExprId equalSets(const Value& a, const Value& b);
  ExprId equalSequences(const Value& a, const Value& b);
  ExprId cardinality(const std::vector<Member>& set);
  Value concatenated(const Value& a, const Value& b);
  Value sumOf(const Value& sequence);
  Value sequenceCall(std::string_view name, const Value& sequence);
  Value setCall(std::string_view name, const std::vector<Member>& a, const std::vector<Member>& b);
  std::optional<SharedVector<Value>> numbersOf(const BuiltinCall& call);
  std::optional<std::vector<SharedVector<Value>>> listsOf(const BuiltinCall& call);
  Value callLength(const BuiltinCall& call);
  Value callFold(const BuiltinCall& call);
  Value callRounding(const BuiltinCall& call);
  Value callPower(const BuiltinCall& call);
  Value callTranscendental(const BuiltinCall& call);
  Value callText(const BuiltinCall& call);
  Value callBound(const BuiltinCall& call);
  Value callShape(const BuiltinCall& call);
  Value callMap(const BuiltinCall& call);
  Value callZip(const BuiltinCall& call);
  Value callReverse(const BuiltinCall& call);
  Value callAtAxes(const BuiltinCall& call);
  Value callBroadcast(const BuiltinCall& call);
  Value callBroadcastAxes(const BuiltinCall& call);
  Value callOnSequences(const BuiltinCall& call);
  Value callOnSets(const BuiltinCall& call);
  bool comprehend(const ast::Comprehension& expr, std::size_t generator, const std::string& name, std::vector<Value>& out);
  bool quantify(const ast::Quantifier& expr, std::size_t variable, std::optional<ExprId>& out);
  bool executeFor(const ast::For& loop);
  bool executeAssign(const ast::Assign& statement);
  bool assignOne(const ast::Name& name, Value value);
  bool passRest(const Signature& signature, Arguments& arguments);
  bool bindOne(const Signature& signature, const ast::Parameter& parameter, const BoundArgument* given, Frame& callee,
               SrcRange use);
  const char* rangeLeftBy(ExprId made);
  Value reportArithmetic(ExprId made, SrcRange range, SrcRange divisor, ExprId right);

  Values shadow;
  struct KnownName {
    const Module* module = nullptr;
    Resolved meaning;
  };
  std::unordered_map<const ast::NameRef*, KnownName> knownNames;
  std::unordered_map<const ast::Expr*, std::vector<const ast::Expr*>> knownConjuncts;
  /// Of parameters that a call does not give; a parameter itself may be a copy. Those of one group have one type, too.
  std::unordered_map<const ast::Expr*, Value> knownDefaults;
  std::unordered_map<const ast::Decl*, Value> constants;
  std::vector<std::vector<Local>> spareLocals;  ///< empty ones: every call binds some kilobytes
  std::vector<const ast::Binary*> chains;       ///< whose left sides are being evaluated, the innermost last
  std::vector<const ast::Decl*> active;         ///< functions and constants being evaluated
  static constexpr std::uint64_t kMaxSteps = 4'000'000;
  std::uint64_t steps = 0;
  int depth = 0;
};

/// Of whole numbers from 1 (`nat`) or 0 (`nat0`), in a process.
bool isNatural(const ast::Type& type);
/// Words that name functions of elaboration time.
inline bool isBuiltin(std::string_view name) { return Evaluator::builtin(name) != nullptr; }

}  // namespace tbem::sema
