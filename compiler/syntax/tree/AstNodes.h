// Nodes of the syntax tree below declarations: expressions, types, statements. Ast.h has the rest, and says what holds for all.
#pragma once

#include "compiler/diagnostics/Source.h"

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
// clang-format off
#define TBEM_AST_NODES(NODE)                                                                               \
  NODE(Number) NODE(Unit) NODE(String) NODE(Enumerator) NODE(Bool) NODE(NameRef) NODE(Member) NODE(Index)  \
  NODE(Call) NODE(Unary) NODE(Binary) NODE(IfExpr) NODE(List) NODE(Comprehension) NODE(Tuple) NODE(Record) \
  NODE(Set) NODE(Range) NODE(Pipe) NODE(Quantifier) NODE(Skip) NODE(Old) NODE(Splice) NODE(Error)          \
  NODE(Let) NODE(Assign) NODE(For) NODE(IfStmt) NODE(Return) NODE(Exit) NODE(Assert) NODE(WeightStmt)      \
  NODE(NamedType) NODE(ListType) NODE(EnumType) NODE(TensorType)                                           \
  NODE(Import) NODE(Constant) NODE(Function) NODE(Callable) NODE(Process) NODE(Mutate) NODE(Design)        \
  NODE(Measure) NODE(Regress) NODE(Predict) NODE(Fit) NODE(Dataset) NODE(Train) NODE(Perturb) NODE(Assume)
// clang-format on

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
struct Expr : Node {
  using Node::Node;
};
struct Stmt : Node {
  using Node::Node;
};
struct Type : Node {
  using Node::Node;
};
struct Decl : Node {
  using Node::Node;
  Name name;                  ///< empty for an import, a predict, a fit, an assume
  std::string documentation;  ///< text of the `///` lines before it
  bool isPrivate = false;
};

/// `cast<T>`: the node as T, which it must be; `dynCast<T>`: or nullptr.
template <class T>
const T& cast(const Node& node) {
  return static_cast<const T&>(node);
}
template <class T>
const T* dynCast(const Node* node) {
  return node != nullptr && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}
template <NodeKind K, class Base>
struct Of : Base {
  static constexpr NodeKind kKind = K;
  Of() : Base(K) {}
};

// ---- Expressions ----------------------------------------------------------------------------------------------------

/// `3`, `0.25`, `1e-5`: the digits as written.
struct Number : Of<NodeKind::Number, Expr> {
  std::string text;
};
/// `24 GiB`, `3 ms`.
struct Unit : Of<NodeKind::Unit, Expr> {
  std::string number;
  Name unit;
};
/// `"text"`: escapes resolved.
struct String : Of<NodeKind::String, Expr> {
  std::string value;
};
/// `<north>`: a member of an enumeration.
struct Enumerator : Of<NodeKind::Enumerator, Expr> {
  std::string name;
};
struct Bool : Of<NodeKind::Bool, Expr> {
  bool value = false;
};
struct NameRef : Of<NodeKind::NameRef, Expr> {
  Name name;
};
/// `object.member`
struct Member : Of<NodeKind::Member, Expr> {
  const Expr* object = nullptr;
  Name member;
};
/// `object[items]`; an item may be a Splice or a Range.
struct Index : Of<NodeKind::Index, Expr> {
  const Expr* object = nullptr;
  std::vector<const Expr*> items;
};
/// One argument: `value`, `name: value`, or `...` (`rest`, no value).
struct Argument {
  Name name;
  const Expr* value = nullptr;
  bool rest = false;
  SrcRange range;
};
/// `callee(arguments)`. `separator`: how many arguments stand before a `;`, if there is one.
struct Call : Of<NodeKind::Call, Expr> {
  const Expr* callee = nullptr;
  std::vector<Argument> arguments;
  std::optional<std::uint32_t> separator;
};
enum class UnaryOp : std::uint8_t { Negate, Not };
struct Unary : Of<NodeKind::Unary, Expr> {
  UnaryOp op{};
  const Expr* operand = nullptr;
};
/// `/` is exact, `div` floors, `cdiv` ceils.
enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Divide,
  FloorDiv,
  CeilDiv,
  Mod,
  Rem,
  Power,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
  Implies,
  Equivalent
};
struct Binary : Of<NodeKind::Binary, Expr> {
  BinaryOp op{};
  SrcRange opRange;
  const Expr* left = nullptr;
  const Expr* right = nullptr;
};
/// `if c then a else b`; `otherwise` is null in a FLOP part (`if use_bias then n`), where it means 0.
struct IfExpr : Of<NodeKind::IfExpr, Expr> {
  const Expr* condition = nullptr;
  const Expr* then = nullptr;
  const Expr* otherwise = nullptr;
};
/// `[a, b, ..c]`
struct List : Of<NodeKind::List, Expr> {
  std::vector<const Expr*> items;
};
/// `[element for variable in domain ...]`
struct Comprehension : Of<NodeKind::Comprehension, Expr> {
  struct Generator {
    Name variable;
    const Expr* domain = nullptr;
  };
  const Expr* element = nullptr;
  std::vector<Generator> generators;
};
/// `(a, b)`: two items or more.
struct Tuple : Of<NodeKind::Tuple, Expr> {
  std::vector<const Expr*> items;
};
/// `{batch: 64, depth: 16}`
struct Record : Of<NodeKind::Record, Expr> {
  struct Field {
    Name name;
    const Expr* value = nullptr;
  };
  std::vector<Field> fields;
};
/// `{1, 2, 4}`
struct Set : Of<NodeKind::Set, Expr> {
  std::vector<const Expr*> items;
};
/// `low .. high`, `low ..= high`, with `step s` (null: 1).
struct Range : Of<NodeKind::Range, Expr> {
  const Expr* low = nullptr;
  const Expr* high = nullptr;
  bool inclusive = false;
  const Expr* step = nullptr;
};
/// `input |> target`: a name, an instance or a call.
struct Pipe : Of<NodeKind::Pipe, Expr> {
  const Expr* input = nullptr;
  const Expr* target = nullptr;
};
/// `forall[i: S, j: T] | P`
struct Quantifier : Of<NodeKind::Quantifier, Expr> {
  struct Variable {
    Name name;
    const Expr* domain = nullptr;
  };
  bool universal = true;
  std::vector<Variable> variables;
  const Expr* body = nullptr;
};
/// `skip computed when condition leaving otherwise`
struct Skip : Of<NodeKind::Skip, Expr> {
  const Expr* computed = nullptr;
  const Expr* condition = nullptr;
  const Expr* leaving = nullptr;
};
/// `~x`: the value before.
struct Old : Of<NodeKind::Old, Expr> {
  Name name;
};
/// `..s` inside a list, an index or a shape.
struct Splice : Of<NodeKind::Splice, Expr> {
  const Expr* value = nullptr;
};
/// What could not be parsed; a diagnostic has been given.
struct Error : Of<NodeKind::Error, Expr> {};

// ---- Types ----------------------------------------------------------------------------------------------------------

/// `int real bool string pair pads dtype network block`, in a process also `nat nat0`, or an unknown word.
struct NamedType : Of<NodeKind::NamedType, Type> {
  Name name;
};
/// `list of T`; in a process `seq of T`, `set of T`.
enum class ListKind : std::uint8_t { List, Sequence, Set };
struct ListType : Of<NodeKind::ListType, Type> {
  ListKind list{};
  const Type* element = nullptr;
};
/// `{<north>, <south>}`
struct EnumType : Of<NodeKind::EnumType, Type> {
  std::vector<Name> members;  ///< without the marks
};
/// `tensor[n, c, ..s]`, `i64[n]`. `dtype` is empty for `tensor`. Dims: any expression; a Splice for `..s`.
struct TensorType : Of<NodeKind::TensorType, Type> {
  Name dtype;
  std::vector<const Expr*> dims;
};

// ---- Statements -----------------------------------------------------------------------------------------------------

using Block = std::vector<const Stmt*>;
/// Names that `let`, `var` or `=` bind: one, or several as `(a, b)`.
struct Pattern {
  std::vector<Name> names;
  bool isTuple = false;
  SrcRange range;
};
/// `let p = value`, `var p = value`
struct Let : Of<NodeKind::Let, Stmt> {
  bool isVar = false;
  Pattern pattern;
  const Expr* value = nullptr;
};
/// `p = value`
struct Assign : Of<NodeKind::Assign, Stmt> {
  Pattern pattern;
  const Expr* value = nullptr;
};
/// `for i in domain as label { body }`; `label` may be empty.
struct For : Of<NodeKind::For, Stmt> {
  Name variable;
  const Expr* domain = nullptr;
  Name label;
  Block body;
};
/// `if c { } else { }`; an `else if` is an IfStmt alone in `otherwise`.
struct IfStmt : Of<NodeKind::IfStmt, Stmt> {
  const Expr* condition = nullptr;
  Block then;
  bool hasElse = false;
  Block otherwise;
};
struct Return : Of<NodeKind::Return, Stmt> {
  const Expr* value = nullptr;
};
/// `exit value when condition`
struct Exit : Of<NodeKind::Exit, Stmt> {
  const Expr* value = nullptr;
  const Expr* condition = nullptr;
};
/// `assert condition, "why"`; `message` may be null.
struct Assert : Of<NodeKind::Assert, Stmt> {
  const Expr* condition = nullptr;
  const Expr* message = nullptr;
};
/// `weight name: type init f if c`, also `buffer`: in bodies and as clauses. `init`, `condition` may be null.
struct WeightStmt : Of<NodeKind::WeightStmt, Stmt> {
  bool isBuffer = false;
  Name name;
  const Type* type = nullptr;
  const Expr* init = nullptr;
  const Expr* condition = nullptr;
};

}  // namespace tbem::ast
