#include "compiler/sema/Symbolic.h"

#include <algorithm>

namespace tbem::sema {

std::string_view describe(EvalError error) {
  switch (error) {
    case EvalError::None:
      return "has a value";
    case EvalError::Overflow:
      return "leaves 64 bits";
    case EvalError::DivisionByZero:
      return "divides by zero";
    case EvalError::NotAnInteger:
      return "is not an integer";
    case EvalError::NegativeExponent:
      return "has a negative exponent";
    case EvalError::Unassigned:
      return "is not known before the program runs";
  }
  return "";
}

namespace {
std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }

bool isCommutative(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Mul:
    case ExprOp::Min:
    case ExprOp::Max:
    case ExprOp::Equal:
      return true;
    default:
      return false;  // `And` and `Or` look at their right side only where the left one leaves it open
  }
}

/// What a node is looked up by. Operands of commutative operators are sorted here only, so that `w * 2` and `2 * w` are one
/// node and yet print as first written.
struct Key {
  ExprOp op{};
  Rational value;
  std::uint32_t symbol = 0, a = 0, b = 0, c = 0;
  explicit Key(const ExprNode& node)
      : op(node.op),
        value(node.value),
        symbol(static_cast<std::uint32_t>(node.symbol)),
        a(raw(node.a)),
        b(raw(node.b)),
        c(raw(node.c)) {
    if (isCommutative(op) && b < a) std::swap(a, b);
  }
  friend bool operator==(const Key&, const Key&) = default;
  std::uint64_t hash() const {
    const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
    std::uint64_t h = 0x9E3779B97F4A7C15ULL;
    for (const std::uint64_t part : {pair(static_cast<std::uint64_t>(op), symbol), pair(a, b), std::uint64_t{c},
                                     static_cast<std::uint64_t>(value.num), static_cast<std::uint64_t>(value.den)}) {
      h = (h ^ part) * 0xFF51AFD7ED558CCDULL;
      h ^= h >> 32;
    }
    return h;
  }
};

bool isZero(const Rational& value) { return value.num == 0; }
}  // namespace

// ---- Building ---------------------------------------------------------------------------------------------------------

SymbolId ExprPool::symbol(std::string name, SrcRange range, bool runtime) {
  symbols.push_back({std::move(name), range, runtime});
  return static_cast<SymbolId>(symbols.size() - 1);
}

/// Where the node of this key stands in the index, or would: a power of two of places, at most half of them taken.
static std::size_t placeOf(const ExprPool& pool, const std::vector<ExprId>& index, const Key& key) {
  std::size_t at = key.hash() & (index.size() - 1);
  while (index[at] != kNoExpr && !(Key(pool[index[at]]) == key)) at = (at + 1) & (index.size() - 1);
  return at;
}

void ExprPool::growIndex() {
  constexpr std::size_t kFirst = 256;
  index.assign(std::max(kFirst, 2 * index.size()), kNoExpr);
  for (std::size_t i = 0; i < nodes.size(); ++i) index[placeOf(*this, index, Key(nodes[i]))] = static_cast<ExprId>(i);
}

ExprId ExprPool::intern(const ExprNode& node) {
  if (2 * nodes.size() >= index.size()) growIndex();
  ExprId& place = index[placeOf(*this, index, Key(node))];
  if (place != kNoExpr) return place;
  const auto id = static_cast<ExprId>(nodes.size());
  nodes.push_back(node);
  place = id;
  const auto whole = [this](ExprId operand) { return integral[raw(operand)] != 0; };
  bool result = false;
  switch (node.op) {
    case ExprOp::Constant:
      result = node.value.isInt();
      break;
    case ExprOp::Symbol:
      result = !(*this)[node.symbol].runtime;
      break;
    case ExprOp::Divide:
      break;
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
    case ExprOp::Mod:
    case ExprOp::Min:
    case ExprOp::Max:
      result = whole(node.a) && whole(node.b);
      break;
    case ExprOp::Power:
      result = whole(node.a);
      break;
    case ExprOp::Select:
      result = whole(node.b) && whole(node.c);
      break;
    default:
      result = true;
      break;  // truth values, `div`, `cdiv`, the step's number
  }
  integral.push_back(result ? 1 : 0);
  return id;
}

ExprId ExprPool::constant(Rational value) {
  constexpr std::int64_t kFew = 2048;  // as most sizes are
  if (!value.isInt() || value.num < 0 || value.num >= kFew) return intern({.op = ExprOp::Constant, .value = value});
  if (few.empty()) few.resize(kFew, kNoExpr);
  ExprId& known = few[static_cast<std::size_t>(value.num)];
  if (known == kNoExpr) known = intern({.op = ExprOp::Constant, .value = value});
  return known;
}

ExprId ExprPool::symbolRef(SymbolId symbol) { return intern({.op = ExprOp::Symbol, .symbol = symbol}); }
ExprId ExprPool::step() { return intern({.op = ExprOp::Step}); }

bool ExprPool::isUndefined(ExprId id) const {
  return id != kNoExpr && (*this)[id].op == ExprOp::FloorDiv && constantValue((*this)[id].b) == Rational{};
}

ExprId ExprPool::make(ExprOp op, ExprId a, ExprId b, ExprId c) {
  const ExprId folded = fold(op, a, b, c);
  return folded != kNoExpr ? folded : intern({.op = op, .a = a, .b = b, .c = c});
}

/// The simpler expression of equal value, or kNoExpr.
ExprId ExprPool::fold(ExprOp op, ExprId a, ExprId b, ExprId c) {
  const std::optional<Rational> left = constantValue(a);
  const std::optional<Rational> right = constantValue(b);
  if (op == ExprOp::Select) {
    if (left) return isZero(*left) ? c : b;
    return b == c ? b : kNoExpr;
  }
  if (op == ExprOp::Not) {
    if (left) return constant(isZero(*left) ? 1 : 0);
    return kNoExpr;
  }
  if (op == ExprOp::And || op == ExprOp::Or) return foldLogic(op, a, b);
  if (left && right) {
    const Outcome outcome = applied(op, *left, *right);
    // A failing constant stays as it is: whoever evaluates it is told why.
    return outcome.error == EvalError::None ? constant(outcome.value) : kNoExpr;
  }
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Sub:
      return foldSum(op, a, b);
    case ExprOp::Mul:
      return foldProduct(a, b);
    case ExprOp::Divide:
    case ExprOp::FloorDiv:
    case ExprOp::CeilDiv:
    case ExprOp::Mod:
      return foldQuotient(op, a, b);
    case ExprOp::Power:
      if (right && isZero(*right)) return constant(1);
      return right && *right == Rational::of(1) ? a : kNoExpr;
    case ExprOp::Min:
    case ExprOp::Max:
      return a == b ? a : kNoExpr;
    case ExprOp::Equal:
    case ExprOp::LessEqual:
      return a == b ? constant(1) : kNoExpr;
    case ExprOp::Less:
      return a == b ? constant(0) : kNoExpr;
    default:
      return kNoExpr;
  }
}

ExprId ExprPool::foldLogic(ExprOp op, ExprId a, ExprId b) {
  const bool isAnd = op == ExprOp::And;
  if (a == b) return a;
  if (const std::optional<Rational> left = constantValue(a)) {
    return isZero(*left) == isAnd ? constant(isAnd ? 0 : 1) : b;
  }
  if (const std::optional<Rational> right = constantValue(b)) {
    if (isZero(*right) != isAnd) return a;
  }
  return kNoExpr;
}

/// Constants of a sum are gathered on its right: (h + 2) - 3 is h - 1, so that equal sizes become equal nodes.
ExprId ExprPool::foldSum(ExprOp op, ExprId a, ExprId b) {
  if (op == ExprOp::Sub && a == b) return constant(0);
  std::optional<Rational> right = constantValue(b);
  if (!right && op == ExprOp::Add && constantValue(a)) {
    right = constantValue(a);
    a = b;
  }
  if (!right) return kNoExpr;
  std::optional<Rational> offset = op == ExprOp::Sub ? sub({}, *right) : right;
  const ExprNode inner = (*this)[a];
  if (inner.op == ExprOp::Add && constantValue(inner.b) && offset) {
    offset = add(*constantValue(inner.b), *offset);
    a = inner.a;
  }
  if (!offset) return kNoExpr;
  if (isZero(*offset)) return a;
  return intern({.op = ExprOp::Add, .a = a, .b = constant(*offset)});
}

ExprId ExprPool::foldProduct(ExprId a, ExprId b) {
  const bool swapped = constantValue(a).has_value();
  if (swapped) std::swap(a, b);
  const std::optional<Rational> factor = constantValue(b);
  if (!factor) return kNoExpr;
  if (isZero(*factor)) return b;
  if (*factor == Rational::of(1)) return a;
  const ExprNode inner = (*this)[a];
  if (inner.op == ExprOp::Divide && constantValue(inner.b) == factor) return inner.a;
  if (inner.op != ExprOp::Mul) return kNoExpr;
  const bool first = constantValue(inner.a).has_value();
  const std::optional<Rational> other = constantValue(first ? inner.a : inner.b);
  const std::optional<Rational> product = other ? mul(*other, *factor) : std::nullopt;
  if (!product) return kNoExpr;
  const ExprId rest = first ? inner.b : inner.a;
  return first ? make(ExprOp::Mul, constant(*product), rest) : make(ExprOp::Mul, rest, constant(*product));
}

ExprId ExprPool::foldQuotient(ExprOp op, ExprId a, ExprId b) {
  const std::optional<Rational> divisor = constantValue(b);
  if (!divisor || isZero(*divisor)) return kNoExpr;
  const bool whole = integral[raw(a)] != 0;
  if (*divisor == Rational::of(1)) {
    if (op == ExprOp::Divide) return a;
    if (whole) return op == ExprOp::Mod ? constant(0) : a;
    return kNoExpr;
  }
  const ExprNode inner = (*this)[a];
  if (inner.op == ExprOp::Mul) {
    // (x * 6) div 3 is x * 2, and (x * 6) mod 3 is 0, for integers x.
    const bool first = constantValue(inner.a).has_value();
    const ExprId rest = first ? inner.b : inner.a;
    const std::optional<Rational> factor = constantValue(first ? inner.a : inner.b);
    const std::optional<Rational> ratio = factor ? div(*factor, *divisor) : std::nullopt;
    if (!ratio || !ratio->isInt()) return kNoExpr;
    if (op == ExprOp::Divide) return make(ExprOp::Mul, rest, constant(*ratio));
    if (integral[raw(rest)] == 0) return kNoExpr;
    return op == ExprOp::Mod ? constant(0) : make(ExprOp::Mul, rest, constant(*ratio));
  }
  // floor(floor(x / m) / n) = floor(x / (m * n)) for integers n > 0 (Graham, Knuth, Patashnik 1994, equation 3.11).
  if (inner.op == op && (op == ExprOp::FloorDiv || op == ExprOp::CeilDiv) && divisor->isInt() && divisor->num > 0) {
    const std::optional<Rational> other = constantValue(inner.b);
    const std::optional<Rational> product = other ? mul(*other, *divisor) : std::nullopt;
    if (product) return make(op, inner.a, constant(*product));
  }
  return kNoExpr;
}

/// Calls visit(id) for `root` and all that it is made of, each once. Without recursion: chains may be long.
template <class Visit>
static void walk(const ExprPool& pool, ExprId root, Visit visit) {
  if (root == kNoExpr) return;
  std::vector<bool> seen(raw(root) + 1, false);  // operands precede their users
  std::vector<ExprId> open{root};
  seen[raw(root)] = true;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    visit(id);
    const ExprNode& node = pool[id];
    for (const ExprId operand : {node.c, node.b, node.a}) {
      if (operand == kNoExpr || seen[raw(operand)]) continue;
      seen[raw(operand)] = true;
      open.push_back(operand);
    }
  }
}

std::vector<SymbolId> ExprPool::symbolsOf(ExprId id) const {
  std::vector<SymbolId> found;
  walk(*this, id, [&](ExprId part) {
    if ((*this)[part].op == ExprOp::Symbol) found.push_back((*this)[part].symbol);
  });
  return found;
}

std::vector<ExprId> ExprPool::cone(ExprId id) const {
  std::vector<ExprId> parts;
  walk(*this, id, [&](ExprId part) { parts.push_back(part); });
  std::sort(parts.begin(), parts.end());
  return parts;
}

// ---- Evaluating -------------------------------------------------------------------------------------------------------

Values ExprPool::evaluate(std::span<const std::optional<Rational>> assignment) const {
  Values values;
  extend(values, assignment);
  return values;
}

void ExprPool::extend(Values& values, std::span<const std::optional<Rational>> assignment) const {
  const std::size_t known = values.value.size();
  values.value.resize(nodes.size());
  values.error.resize(nodes.size(), EvalError::None);
  const auto at = [&values](ExprId id) { return Outcome{values[id], values.errorOf(id)}; };
  for (std::size_t i = known; i < nodes.size(); ++i) {
    const ExprNode& node = nodes[i];
    Outcome result;
    switch (node.op) {
      case ExprOp::Constant:
        result.value = node.value;
        break;
      case ExprOp::Step:
        result = Outcome::failed(EvalError::Unassigned);
        values.step = static_cast<ExprId>(i);
        break;
      case ExprOp::Symbol: {
        const auto slot = static_cast<std::uint32_t>(node.symbol);
        if (slot >= assignment.size() || !assignment[slot]) {
          result = Outcome::failed(EvalError::Unassigned);
        } else if (!symbols[slot].runtime && !assignment[slot]->isInt()) {
          result = Outcome::failed(EvalError::NotAnInteger);
        } else {
          result.value = *assignment[slot];
        }
        break;
      }
      case ExprOp::Not:
        result = at(node.a);
        if (result.error == EvalError::None) result = Outcome::truth(isZero(result.value));
        break;
      case ExprOp::And:
      case ExprOp::Or:
        result = at(node.a);
        if (result.error == EvalError::None && isZero(result.value) == (node.op == ExprOp::Or)) result = at(node.b);
        if (result.error == EvalError::None) result = Outcome::truth(!isZero(result.value));
        break;
      case ExprOp::Select:
        result = at(node.a);
        if (result.error == EvalError::None) result = at(isZero(result.value) ? node.c : node.b);
        break;
      default: {
        const Outcome a = at(node.a);
        const Outcome b = at(node.b);
        result = a.error != EvalError::None   ? a
                 : b.error != EvalError::None ? b
                                              : applied(node.op, a.value, b.value, integral[i] == 0);
        break;
      }
    }
    values.value[i] = result.value;
    values.error[i] = result.error;
  }
}

}  // namespace tbem::sema
