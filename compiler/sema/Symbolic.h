// Elaboration-time numbers as expressions over the symbols of a design.
//
// A structure is elaborated once; what a row's levels change are the values of symbols (`batch`, `width`, the input's `h`).
// Every dimension, FLOP count, condition and run-time scalar of a graph is an `ExprId` into one pool, hash-consed and in
// topological order, so that a row is evaluated by one pass over a vector.
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/support/Rational.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tbem::sema {

enum class ExprId : std::uint32_t {};
enum class SymbolId : std::uint32_t {};
constexpr ExprId kNoExpr = static_cast<ExprId>(0xFFFFFFFFU);

/// Booleans are 0 and 1. `Divide` is exact, `FloorDiv` floors, `CeilDiv` ceils. `Select`: a <> 0 ? b : c, lazily checked.
/// `Step` is the number of the training step, from 1, known only at run time.
enum class ExprOp : std::uint8_t {
  Constant,
  Symbol,
  Step,
  Add,
  Sub,
  Mul,
  Divide,
  FloorDiv,
  CeilDiv,
  Mod,
  Power,
  Min,
  Max,
  Equal,
  Less,
  LessEqual,
  And,
  Or,
  Not,
  Select
};

/// Whether its results are truth values, 0 or 1.
bool isTruth(ExprOp op);

struct ExprNode {
  ExprOp op{};
  Rational value;     ///< Constant
  SymbolId symbol{};  ///< Symbol
  ExprId a = kNoExpr, b = kNoExpr, c = kNoExpr;
};

struct Symbol {
  std::string name;  ///< as the user wrote it: "batch"
  SrcRange range;
  /// A real that may reach the graph as a run-time scalar (learning rate, threshold). Every other symbol is an integer or a
  /// truth value: a level that is neither evaluates to `NotAnInteger`.
  bool runtime = false;
};

/// What a number that overflows leaves: for messages.
inline constexpr const char* kWholeRange = "64-bit whole numbers";
inline constexpr const char* kRealRange = "f64";

/// Why an expression has no value in a row. `Overflow`: a whole number beyond 64 bits, or a number beyond f64.
enum class EvalError : std::uint8_t { None, Overflow, DivisionByZero, NotAnInteger, NegativeExponent, Unassigned };
/// "leaves 64 bits", "divides by zero", ..
std::string_view describe(EvalError error);

/// The value of one operator, or why it has none.
struct Outcome {
  Rational value;
  EvalError error = EvalError::None;
  static Outcome failed(EvalError error) { return {{}, error}; }
  static Outcome truth(bool value) { return {Rational::of(value ? 1 : 0), EvalError::None}; }
};
/// Of an operator with two operands that both have values; truth values are not looked at lazily here (And, Or, Select: no
/// operators of this function). Exact where 64 bits hold the result; whole numbers are never rounded, others, and whole ones
/// that are `real`, are f64 from there on.
Outcome applied(ExprOp op, const Rational& a, const Rational& b, bool real = false);
/// What f64 makes of a number's function: nothing where that is infinite or none.
Outcome realOutcome(double value);

/// Values of all expressions of a pool in one row.
struct Values {
  std::vector<Rational> value;   ///< by ExprId
  std::vector<EvalError> error;  ///< by ExprId; an expression over a failed one fails the same way
  ExprId step = kNoExpr;         ///< the pool's `Step` node, if it has one: slot 0 of a step's scalars
  const Rational& operator[](ExprId id) const { return value[static_cast<std::uint32_t>(id)]; }
  EvalError errorOf(ExprId id) const { return error[static_cast<std::uint32_t>(id)]; }
  /// The value as an integer; TBEM_BUG-free callers check `errorOf` and `isInt` first.
  std::int64_t integer(ExprId id) const { return (*this)[id].num; }
};

class ExprPool {
public:
  SymbolId symbol(std::string name, SrcRange range, bool runtime = false);
  ExprId constant(Rational value);
  ExprId constant(std::int64_t value) { return constant(Rational::of(value)); }
  ExprId symbolRef(SymbolId symbol);
  ExprId step();
  /// A number that means something else, by which it is printed: a member of an enumeration.
  void nameConstant(std::int64_t value, std::string name) { names[value] = std::move(name); }
  /// 1 div 0
  ExprId undefined() { return make(ExprOp::FloorDiv, constant(1), constant(0)); }
  bool isUndefined(ExprId id) const;
  /// Folds constants and the simple identities (x + 0, x * 1, x div 1, min(x, x), select with a known condition ...).
  ExprId make(ExprOp op, ExprId a, ExprId b = kNoExpr, ExprId c = kNoExpr);

  const ExprNode& operator[](ExprId id) const { return nodes[static_cast<std::uint32_t>(id)]; }
  const Symbol& operator[](SymbolId id) const { return symbols[static_cast<std::uint32_t>(id)]; }
  std::optional<Rational> constantValue(ExprId id) const {
    const bool isConstant = id != kNoExpr && (*this)[id].op == ExprOp::Constant;
    return isConstant ? std::optional((*this)[id].value) : std::nullopt;
  }
  /// Symbols on which the expression depends, each once.
  std::vector<SymbolId> symbolsOf(ExprId id) const;
  /// The expression and all that it is made of, each once, operands before their users.
  std::vector<ExprId> cone(ExprId id) const;
  /// Whether it is a whole number in every row in which it has a value.
  bool isWhole(ExprId id) const { return integral[static_cast<std::uint32_t>(id)] != 0; }
  std::size_t size() const { return nodes.size(); }
  std::size_t symbolCount() const { return symbols.size(); }

  /// Evaluates every node; `assignment[symbol]` is its level in this row (nothing: run-time scalars may stay open).
  Values evaluate(std::span<const std::optional<Rational>> assignment) const;
  /// Adds the values of the nodes made since `values` was last filled, under the same assignment.
  void extend(Values& values, std::span<const std::optional<Rational>> assignment) const;
  /// The expression as text, in the user's names: "batch * 64 div 2".
  std::string str(ExprId id) const;

private:
  ExprId intern(const ExprNode& node);
  void growIndex();
  ExprId fold(ExprOp op, ExprId a, ExprId b, ExprId c);
  ExprId foldLogic(ExprOp op, ExprId a, ExprId b);
  ExprId foldSum(ExprOp op, ExprId a, ExprId b);
  ExprId foldProduct(ExprId a, ExprId b);
  ExprId foldQuotient(ExprOp op, ExprId a, ExprId b);

  std::vector<ExprNode> nodes;
  std::vector<std::uint8_t> integral;  ///< by ExprId: 1 where the value is an integer in every row
  std::vector<Symbol> symbols;
  std::unordered_map<std::int64_t, std::string> names;  ///< of constants
  std::vector<ExprId> few;    ///< the nodes of 0, 1, 2 ..., which most constants are; kNoExpr where there is none yet
  std::vector<ExprId> index;  ///< of all nodes, by hash; open addressing, kNoExpr where there is none
};

}  // namespace tbem::sema
