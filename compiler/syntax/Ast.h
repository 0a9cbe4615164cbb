// The syntax tree: plain data, a range on every node, no parser behind it.
//
// `ast::File` owns all nodes of one source. Node pointers are stable and never null unless a comment says so.
// Names are `Name {text, range}` so that a diagnostic can mark just the word.
#pragma once

#include "compiler/support/Source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tbem::ast {

struct Name {
  std::string text;
  SrcRange range;
  bool empty() const { return text.empty(); }
};

/// Every kind of node: NODE(Kind). Expressions, statements, types, clauses, declarations, in this order.
#define TBEM_AST_NODES(NODE)                                                                                          \
  NODE(Number) NODE(Unit) NODE(String) NODE(Bool) NODE(NameRef) NODE(Member) NODE(Index) NODE(Call) NODE(Unary)        \
  NODE(Binary) NODE(IfExpr) NODE(List) NODE(Comprehension) NODE(Tuple) NODE(Record) NODE(Set) NODE(Range) NODE(Pipe)   \
  NODE(Quantifier) NODE(Skip) NODE(Old) NODE(Splice) NODE(Error)                                                       \
  NODE(Let) NODE(Assign) NODE(For) NODE(IfStmt) NODE(Return) NODE(Exit) NODE(Assert) NODE(WeightStmt)                  \
  NODE(NamedType) NODE(ListType) NODE(TensorType)                                                                      \
  NODE(Import) NODE(Constant) NODE(Function) NODE(Callable) NODE(Process) NODE(Mutate) NODE(Design) NODE(Measure)      \
  NODE(Regress) NODE(Predict) NODE(Fit) NODE(Dataset) NODE(Train) NODE(Perturb) NODE(Assume)

enum class NodeKind : std::uint8_t {
#define NODE(kind) kind,
  TBEM_AST_NODES(NODE)
#undef NODE
};

struct Node {
  NodeKind kind;
  SrcRange range;
  explicit Node(NodeKind kind) : kind(kind) {}
  virtual ~Node() = default;
};
struct Expr : Node { using Node::Node; };
struct Stmt : Node { using Node::Node; };
struct Type : Node { using Node::Node; };
struct Decl : Node {
  using Node::Node;
  Name name;                     ///< empty for an import, a predict, a fit, an assume
  std::string documentation;     ///< text of the `///` lines before it
  bool isPrivate = false;
};

/// `cast<T>`: the node as T, which it must be; `dynCast<T>`: or nullptr.
template <class T> const T& cast(const Node& node) { return static_cast<const T&>(node); }
template <class T> const T* dynCast(const Node* node) {
  return node != nullptr && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}
template <NodeKind K, class Base> struct Of : Base {
  static constexpr NodeKind kKind = K;
  Of() : Base(K) {}
};

// ---- Expressions ----------------------------------------------------------------------------------------------------

/// `3`, `0.25`, `1e-5`: the digits as written.
struct Number : Of<NodeKind::Number, Expr> { std::string text; };
/// `24 GiB`, `3 ms`.
struct Unit : Of<NodeKind::Unit, Expr> { std::string number; Name unit; };
/// `"text"`: escapes resolved.
struct String : Of<NodeKind::String, Expr> { std::string value; };
struct Bool : Of<NodeKind::Bool, Expr> { bool value = false; };
struct NameRef : Of<NodeKind::NameRef, Expr> { Name name; };
/// `object.member`
struct Member : Of<NodeKind::Member, Expr> { const Expr* object = nullptr; Name member; };
/// `object[items]`; an item may be a Splice or a Range.
struct Index : Of<NodeKind::Index, Expr> { const Expr* object = nullptr; std::vector<const Expr*> items; };
/// One argument: `value`, `name: value`, or `...` (`rest`, no value).
struct Argument { Name name; const Expr* value = nullptr; bool rest = false; SrcRange range; };
/// `callee(arguments)`. `separator`: how many arguments stand before a `;`, if there is one.
struct Call : Of<NodeKind::Call, Expr> {
  const Expr* callee = nullptr;
  std::vector<Argument> arguments;
  std::optional<std::uint32_t> separator;
};
enum class UnaryOp : std::uint8_t { Negate, Not };
struct Unary : Of<NodeKind::Unary, Expr> { UnaryOp op{}; const Expr* operand = nullptr; };
/// `/` is exact, `div` floors, `cdiv` ceils.
enum class BinaryOp : std::uint8_t {
  Add, Sub, Mul, Divide, FloorDiv, CeilDiv, Mod, Rem, Power, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or,
  Implies, Equivalent
};
struct Binary : Of<NodeKind::Binary, Expr> { BinaryOp op{}; SrcRange opRange; const Expr* left = nullptr; const Expr* right = nullptr; };
/// `if c then a else b`; `otherwise` is null in a FLOP part (`if use_bias then n`), where it means 0.
struct IfExpr : Of<NodeKind::IfExpr, Expr> { const Expr* condition = nullptr; const Expr* then = nullptr; const Expr* otherwise = nullptr; };
/// `[a, b, ..c]`
struct List : Of<NodeKind::List, Expr> { std::vector<const Expr*> items; };
/// `[element for variable in domain ...]`
struct Comprehension : Of<NodeKind::Comprehension, Expr> {
  struct Generator { Name variable; const Expr* domain = nullptr; };
  const Expr* element = nullptr;
  std::vector<Generator> generators;
};
/// `(a, b)`: two items or more.
struct Tuple : Of<NodeKind::Tuple, Expr> { std::vector<const Expr*> items; };
/// `{batch: 64, depth: 16}`
struct Record : Of<NodeKind::Record, Expr> { struct Field { Name name; const Expr* value = nullptr; }; std::vector<Field> fields; };
/// `{1, 2, 4}`
struct Set : Of<NodeKind::Set, Expr> { std::vector<const Expr*> items; };
/// `low .. high`, `low ..= high`, with `step s` (null: 1).
struct Range : Of<NodeKind::Range, Expr> { const Expr* low = nullptr; const Expr* high = nullptr; bool inclusive = false; const Expr* step = nullptr; };
/// `input |> target`: a name, an instance or a call.
struct Pipe : Of<NodeKind::Pipe, Expr> { const Expr* input = nullptr; const Expr* target = nullptr; };
/// `forall[i: S, j: T] | P`
struct Quantifier : Of<NodeKind::Quantifier, Expr> {
  struct Variable { Name name; const Expr* domain = nullptr; };
  bool universal = true;
  std::vector<Variable> variables;
  const Expr* body = nullptr;
};
/// `skip computed when condition leaving otherwise`
struct Skip : Of<NodeKind::Skip, Expr> { const Expr* computed = nullptr; const Expr* condition = nullptr; const Expr* leaving = nullptr; };
/// `~x`: the value before.
struct Old : Of<NodeKind::Old, Expr> { Name name; };
/// `..s` inside a list, an index or a shape.
struct Splice : Of<NodeKind::Splice, Expr> { const Expr* value = nullptr; };
/// What could not be parsed; a diagnostic has been given.
struct Error : Of<NodeKind::Error, Expr> {};

// ---- Types ----------------------------------------------------------------------------------------------------------

/// `int real bool string pair pads dtype network block`, or an unknown word.
struct NamedType : Of<NodeKind::NamedType, Type> { Name name; };
struct ListType : Of<NodeKind::ListType, Type> { const Type* element = nullptr; };
/// `tensor[n, c, ..s]`, `i64[n]`. `dtype` is empty for `tensor`. Dims: any expression; a Splice for `..s`.
struct TensorType : Of<NodeKind::TensorType, Type> { Name dtype; std::vector<const Expr*> dims; };

// ---- Statements -----------------------------------------------------------------------------------------------------

using Block = std::vector<const Stmt*>;
/// Names that `let`, `var` or `=` bind: one, or several as `(a, b)`.
struct Pattern { std::vector<Name> names; bool isTuple = false; SrcRange range; };
/// `let p = value`, `var p = value`
struct Let : Of<NodeKind::Let, Stmt> { bool isVar = false; Pattern pattern; const Expr* value = nullptr; };
/// `p = value`
struct Assign : Of<NodeKind::Assign, Stmt> { Pattern pattern; const Expr* value = nullptr; };
/// `for i in domain as label { body }`; `label` may be empty.
struct For : Of<NodeKind::For, Stmt> { Name variable; const Expr* domain = nullptr; Name label; Block body; };
/// `if c { } else { }`; an `else if` is an IfStmt alone in `otherwise`.
struct IfStmt : Of<NodeKind::IfStmt, Stmt> { const Expr* condition = nullptr; Block then; bool hasElse = false; Block otherwise; };
struct Return : Of<NodeKind::Return, Stmt> { const Expr* value = nullptr; };
/// `exit value when condition`
struct Exit : Of<NodeKind::Exit, Stmt> { const Expr* value = nullptr; const Expr* condition = nullptr; };
/// `assert condition, "why"`; `message` may be null.
struct Assert : Of<NodeKind::Assert, Stmt> { const Expr* condition = nullptr; const Expr* message = nullptr; };
/// `weight name: type init f if c`, also `buffer`: in bodies and as clauses. `init`, `condition` may be null.
struct WeightStmt : Of<NodeKind::WeightStmt, Stmt> {
  bool isBuffer = false;
  Name name;
  const Type* type = nullptr;
  const Expr* init = nullptr;
  const Expr* condition = nullptr;
};

// ---- Declarations ---------------------------------------------------------------------------------------------------

/// `name: type [in values] [= default]`; names that share a type each have their own Parameter.
struct Parameter { Name name; const Type* type = nullptr; const Expr* domain = nullptr; const Expr* defaultValue = nullptr; SrcRange range; };
/// A result `y: type`, or a type alone (empty name).
struct Result { Name name; const Type* type = nullptr; SrcRange range; };
/// `name: expression`, in `flops`, `backward`, `updates`.
struct Part { Name name; const Expr* value = nullptr; };
/// A list of words and expressions behind a clause word, for declarations whose stage reads them freely:
/// `epochs 5`, `optimizer sgd(lr: 0.1)`, `validate 0.1`, `on cpu, cuda`, `method generator(epochs: 100)`.
struct Clause { Name word; std::vector<Argument> items; SrcRange range; };

/// `import a.b`, `import a.b as c`, `import a.b: x, y`
struct Import : Of<NodeKind::Import, Decl> { std::vector<Name> path; Name alias; std::vector<Name> names; };
/// `let name = value` at top level.
struct Constant : Of<NodeKind::Constant, Decl> { const Expr* value = nullptr; };
/// `function f(a: int) -> type { body }`
struct Function : Of<NodeKind::Function, Decl> { std::vector<Parameter> parameters; const Type* result = nullptr; Block body; };

enum class CallableKind : std::uint8_t { Operator, Block, Network };
/// An operator, block or network.
struct Callable : Of<NodeKind::Callable, Decl> {
  CallableKind callable{};
  std::vector<Parameter> tensors;        ///< before the `;` (or of tensor type): type is TensorType, or ListType of one
  std::vector<Parameter> parameters;
  std::vector<Result> results;
  std::vector<const Expr*> pre, post;
  std::vector<const Expr*> requirements; ///< `requires P(arguments)`: calls of processes
  std::vector<const WeightStmt*> weights;///< `weight` and `buffer` clauses
  std::vector<Part> elementwise;         ///< `elementwise y = expression`, one a result
  const Call* native = nullptr;          ///< `native conv2d(x, weight, bias)`; callee a NameRef
  const String* nativeSymbol = nullptr;  ///< `native "lib.so:symbol"` instead
  std::vector<Part> flops, backward, updates;
  Name fallback;                         ///< `fallback best`
  bool hasBody = false;
  Block body;
};

/// `process P(a: int | b: int) y: bool ext ... pre ... post ... end_process`
struct Process : Of<NodeKind::Process, Decl> {
  struct External { bool writes = false; Name name; const Type* type = nullptr; };
  std::vector<std::vector<Parameter>> inputs;   ///< ports, separated by `|`
  std::vector<std::vector<Parameter>> outputs;
  std::vector<External> externals;
  const Expr* pre = nullptr;                    ///< null: true
  const Expr* post = nullptr;
};

/// `mutate f of base { operation target as name: levels }`
struct Mutate : Of<NodeKind::Mutate, Decl> {
  struct Operation {
    Name word;                       ///< repeat insert drop swap widen
    const Expr* inserted = nullptr;  ///< `insert dropout(0.5) after ...`
    Name where;                      ///< after, before, or empty
    const Expr* path = nullptr;
    Name as;
    std::vector<const Expr*> levels;
    SrcRange range;
  };
  Name base;
  std::vector<Operation> operations;
};

/// `factor name: levels [under parent = level]`; no levels: the parameter's domain.
struct Factor { Name name; std::vector<const Expr*> levels; Name parent; const Expr* parentLevel = nullptr; SrcRange range; };
struct Input { Name name; const Expr* shape = nullptr; SrcRange range; };
struct Design : Of<NodeKind::Design, Decl> {
  const Expr* of = nullptr;                 ///< network or factor name; null: an array for any experiment
  std::vector<Factor> factors;
  std::vector<Input> inputs;
  const Expr* task = nullptr;               ///< `train(loss: ..., optimizer: ...)` or `infer`; null: infer
  const Expr* strength = nullptr;
  const Expr* covering = nullptr;
  const Expr* within = nullptr;             ///< a Unit
  const Expr* rows = nullptr;
  const Expr* array = nullptr;              ///< a String
  const Expr* seed = nullptr;
  bool full = false;
  SrcRange fullRange;
  std::vector<const Expr*> where;
  const Expr* dtype = nullptr;
  const Expr* math = nullptr;
  const Expr* accumulate = nullptr;
  const Expr* mixed = nullptr;
  const Expr* checkpoint = nullptr;
};

/// `measure design { on ...; metric ...; repeat n; ... }`: `name` is the design's.
struct Measure : Of<NodeKind::Measure, Decl> {
  std::vector<Name> backends, metrics;
  const Expr* repeat = nullptr;
  std::vector<Clause> others;
};
/// `regress name from design { response e; terms t + u; validate leave_one_out }`
struct Regress : Of<NodeKind::Regress, Decl> {
  Name from;
  const Expr* response = nullptr;
  const Expr* terms = nullptr;              ///< a sum of names, products, `poly(...)`
  Name validate;
  std::vector<Clause> others;
};
/// `predict regression at {batch: 64}`
struct Predict : Of<NodeKind::Predict, Decl> { Name regression; const Expr* at = nullptr; };
/// `fit design at {...} over factor into 24 GiB on "device"`; `at`, `device` may be null.
struct Fit : Of<NodeKind::Fit, Decl> { Name design; const Expr* at = nullptr; Name over; const Expr* into = nullptr; const Expr* device = nullptr; };
/// `dataset name = call`
struct Dataset : Of<NodeKind::Dataset, Decl> { const Expr* value = nullptr; };
/// `train name = network on data { clauses }`
struct Train : Of<NodeKind::Train, Decl> { const Expr* network = nullptr; const Expr* data = nullptr; std::vector<Clause> clauses; };
/// `perturb name of target { clauses }`
struct Perturb : Of<NodeKind::Perturb, Decl> { Name target; std::vector<Clause> clauses; };
/// `assume image in [0, 1]`
struct Assume : Of<NodeKind::Assume, Decl> { Name input; const Expr* domain = nullptr; };

/// One parsed source. Owns its nodes.
struct File {
  const Source* source = nullptr;
  std::optional<std::uint32_t> version;        ///< `tbem 1`
  std::vector<const Decl*> declarations;       ///< as written
  const Expr* expression = nullptr;            ///< `-e` text that is one expression
  std::vector<SrcRange> comments;              ///< all comments, in order, with their marks

  template <class T> T* make(SrcRange range) {
    auto owned = std::make_unique<T>();
    owned->range = range;
    T* raw = owned.get();
    nodes.push_back(std::move(owned));
    return raw;
  }

private:
  std::vector<std::unique_ptr<Node>> nodes;
};

}  // namespace tbem::ast
