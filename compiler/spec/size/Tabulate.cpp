#include "compiler/spec/size/Tabulate.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

namespace tbem::spec {

using sema::EvalError;
using sema::ExprNode;
using sema::ExprOp;
using sema::Outcome;

namespace {

std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }

/// For each entry of a column over `cone`, where the operands' entries stand: steps along each symbol.
struct Walk {
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> a, b, c;  ///< steps
};

std::vector<std::size_t> stepsOf(const std::vector<std::uint32_t>& cone, const Column& operand,
                                 const std::vector<std::vector<Rational>>& levels) {
  std::vector<std::size_t> steps(cone.size(), 0);
  std::size_t step = 1;
  for (std::size_t i = operand.cone.size(); i-- > 0;) {
    const auto at = std::lower_bound(cone.begin(), cone.end(), operand.cone[i]) - cone.begin();
    steps[static_cast<std::size_t>(at)] = step;
    step *= levels[operand.cone[i]].size();
  }
  return steps;
}

/// Calls visit(entry, a, b, c) for all entries in order.
template <class Visit>
void forEach(const Walk& walk, std::size_t count, Visit&& visit) {
  const std::size_t rank = walk.sizes.size();
  if (rank == 0) {
    visit(0, 0, 0, 0);
    return;
  }
  std::vector<std::size_t> at(rank, 0);
  const std::size_t inner = walk.sizes.back();
  const std::size_t da = walk.a.back(), db = walk.b.back(), dc = walk.c.back();
  std::size_t a = 0, b = 0, c = 0;
  for (std::size_t entry = 0; entry < count;) {
    for (std::size_t k = 0; k < inner; ++k, ++entry) visit(entry, a + k * da, b + k * db, c + k * dc);
    for (std::size_t i = rank - 1; i-- > 0;) {
      a += walk.a[i];
      b += walk.b[i];
      c += walk.c[i];
      if (++at[i] < walk.sizes[i]) break;
      a -= walk.a[i] * walk.sizes[i];
      b -= walk.b[i] * walk.sizes[i];
      c -= walk.c[i] * walk.sizes[i];
      at[i] = 0;
    }
  }
}

std::int64_t floorWhole(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// One operator on whole numbers. False: the result is no whole number of 64 bits, or there is none.
bool onWhole(ExprOp op, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t& out) {
  constexpr std::int64_t kLeast = INT64_MIN;
  switch (op) {
    case ExprOp::Add:
      return !__builtin_add_overflow(a, b, &out);
    case ExprOp::Sub:
      return !__builtin_sub_overflow(a, b, &out);
    case ExprOp::Mul:
      return !__builtin_mul_overflow(a, b, &out);
    case ExprOp::Divide:
      if (b == 0 || a == kLeast || a % b != 0) return false;
      out = a / b;
      return true;
    case ExprOp::FloorDiv:
      if (b == 0 || a == kLeast) return false;
      out = floorWhole(a, b);
      return true;
    case ExprOp::CeilDiv:
      if (b == 0 || a == kLeast) return false;
      out = -floorWhole(-a, b);
      return true;
    case ExprOp::Mod:
      if (b == 0 || a == kLeast) return false;
      out = a - b * floorWhole(a, b);
      return true;
    case ExprOp::Min:
      out = std::min(a, b);
      return true;
    case ExprOp::Max:
      out = std::max(a, b);
      return true;
    case ExprOp::Equal:
      out = a == b ? 1 : 0;
      return true;
    case ExprOp::Less:
      out = a < b ? 1 : 0;
      return true;
    case ExprOp::LessEqual:
      out = a <= b ? 1 : 0;
      return true;
    case ExprOp::And:
      out = a != 0 && b != 0 ? 1 : 0;
      return true;
    case ExprOp::Or:
      out = a != 0 || b != 0 ? 1 : 0;
      return true;
    case ExprOp::Not:
      out = a == 0 ? 1 : 0;
      return true;
    case ExprOp::Select:
      out = a != 0 ? b : c;
      return true;
    default:
      return false;
  }
}

/// One operator on columns of whole numbers. False: not all results are whole numbers.
bool combineWhole(ExprOp op, const Walk& walk, std::size_t count, const std::array<const Column*, 3>& operands,
                  std::vector<std::int64_t>& results) {
  results.resize(count);
  const std::int64_t* const left = operands[0]->whole.data();
  const std::int64_t* const right = operands[1] != nullptr ? operands[1]->whole.data() : left;
  const std::int64_t* const third = operands[2] != nullptr ? operands[2]->whole.data() : left;
  std::int64_t* const out = results.data();
  bool good = true;
  const auto all = [&](const auto& of) {
    forEach(walk, count, [&](std::size_t i, std::size_t x, std::size_t y, std::size_t z) {
      good = onWhole(of(), left[x], right[y], third[z], out[i]) && good;
    });
  };
  switch (op) {  // the frequent ones with the operator known to the compiler
    case ExprOp::Add:
      all(std::integral_constant<ExprOp, ExprOp::Add>{});
      break;
    case ExprOp::Sub:
      all(std::integral_constant<ExprOp, ExprOp::Sub>{});
      break;
    case ExprOp::Mul:
      all(std::integral_constant<ExprOp, ExprOp::Mul>{});
      break;
    case ExprOp::FloorDiv:
      all(std::integral_constant<ExprOp, ExprOp::FloorDiv>{});
      break;
    case ExprOp::LessEqual:
      all(std::integral_constant<ExprOp, ExprOp::LessEqual>{});
      break;
    case ExprOp::And:
      all(std::integral_constant<ExprOp, ExprOp::And>{});
      break;
    default:
      all([op] { return op; });
      break;
  }
  return good;
}

Outcome at(const Column* column, std::size_t i) {
  if (column == nullptr) return {};
  return {column->at(i), column->isWhole() ? EvalError::None : column->errors[i]};
}

/// The same of any values: truth values look at their right side only where the left leaves it open.
Outcome onValues(ExprOp op, bool real, const Outcome& a, const Outcome& b, const Outcome& c) {
  if (a.error != EvalError::None) return a;
  const bool yes = a.value.num != 0;
  const auto truth = [](const Outcome& o) {
    return o.error != EvalError::None ? o : Outcome{Rational::of(o.value.num != 0 ? 1 : 0), EvalError::None};
  };
  switch (op) {
    case ExprOp::Not:
      return {Rational::of(yes ? 0 : 1), EvalError::None};
    case ExprOp::And:
      return yes ? truth(b) : truth(a);
    case ExprOp::Or:
      return yes ? truth(a) : truth(b);
    case ExprOp::Select:
      return yes ? b : c;
    default:
      return b.error != EvalError::None ? b : sema::applied(op, a.value, b.value, real);
  }
}

}  // namespace

Tabulation::Tabulation(const sema::ExprPool& pool, std::vector<std::vector<Rational>> given, std::size_t limit)
    : pool(pool), levels(std::move(given)), limit(limit) {
  levels.resize(pool.symbolCount());
}

Column Tabulation::ofSymbol(std::uint32_t symbol) const {
  Column made;
  const std::vector<Rational>& values = levels[symbol];
  if (values.size() != 1) made.cone = {symbol};
  const bool whole = std::all_of(values.begin(), values.end(), [](const Rational& v) { return v.isInt(); });
  if (whole && !values.empty()) {
    for (const Rational& value : values) made.whole.push_back(value.num);
    return made;
  }
  const bool real = pool[static_cast<sema::SymbolId>(symbol)].runtime;
  for (const Rational& value : values) {
    made.values.push_back(value);
    made.errors.push_back(real || value.isInt() ? EvalError::None : EvalError::NotAnInteger);
  }
  if (values.empty()) {
    made.cone.clear();
    made.values = {Rational{}};
    made.errors = {EvalError::Unassigned};
  }
  return made;
}

Column Tabulation::combine(ExprId expr, const Column& a, const Column* b, const Column* c) {
  const ExprNode& node = pool[expr];
  const bool real = !pool.isWhole(expr);
  Column made;
  made.cone = a.cone;
  for (const Column* more : {b, c}) {
    if (more == nullptr) continue;
    std::vector<std::uint32_t> all;
    std::set_union(made.cone.begin(), made.cone.end(), more->cone.begin(), more->cone.end(), std::back_inserter(all));
    made.cone = std::move(all);
  }
  std::size_t count = 1;
  Walk walk;
  for (const std::uint32_t symbol : made.cone) {
    walk.sizes.push_back(levels[symbol].size());
    count *= levels[symbol].size();
    if (count > limit) return {};
  }
  walk.a = stepsOf(made.cone, a, levels);
  walk.b = b != nullptr ? stepsOf(made.cone, *b, levels) : std::vector<std::size_t>(made.cone.size(), 0);
  walk.c = c != nullptr ? stepsOf(made.cone, *c, levels) : std::vector<std::size_t>(made.cone.size(), 0);
  const bool whole = a.isWhole() && (b == nullptr || b->isWhole()) && (c == nullptr || c->isWhole());
  if (whole && combineWhole(node.op, walk, count, {&a, b, c}, made.whole)) return made;
  made.whole.clear();
  made.values.resize(count);
  made.errors.resize(count);
  forEach(walk, count, [&](std::size_t i, std::size_t x, std::size_t y, std::size_t z) {
    const Outcome outcome = onValues(node.op, real, at(&a, x), at(b, y), at(c, z));
    made.values[i] = outcome.value;
    made.errors[i] = outcome.error;
  });
  return made;
}

Column Tabulation::make(ExprId expr) {
  const ExprNode& node = pool[expr];
  Column made;
  switch (node.op) {
    case ExprOp::Constant:
      if (node.value.isInt()) {
        made.whole = {node.value.num};
      } else {
        made.values = {node.value};
        made.errors = {EvalError::None};
      }
      return made;
    case ExprOp::Symbol:
      return ofSymbol(static_cast<std::uint32_t>(node.symbol));
    case ExprOp::Step:
      made.values = {Rational{}};
      made.errors = {EvalError::Unassigned};
      return made;
    default:
      break;
  }
  const auto of = [&](ExprId id) { return id == sema::kNoExpr ? nullptr : &columns[raw(id)]; };
  for (const ExprId operand : {node.a, node.b, node.c}) {
    if (operand != sema::kNoExpr && of(operand)->size() == 0) return {};  // too long
  }
  return combine(expr, *of(node.a), of(node.b), of(node.c));
}

void Tabulation::run(const std::vector<ExprId>& roots, const std::function<void(ExprId, const Column*)>& visit) {
  std::uint32_t most = 0;
  for (const ExprId root : roots) most = std::max(most, raw(root));
  std::vector<std::uint32_t> uses(roots.empty() ? 0 : most + 1, 0);
  std::vector<bool> wanted(uses.size(), false);
  for (const ExprId root : roots) {
    wanted[raw(root)] = true;
    ++uses[raw(root)];
  }
  for (std::size_t id = uses.size(); id-- > 0;) {
    if (uses[id] == 0) continue;
    const ExprNode& node = pool[static_cast<ExprId>(id)];
    for (const ExprId operand : {node.a, node.b, node.c}) {
      if (operand != sema::kNoExpr) ++uses[raw(operand)];
    }
  }
  columns.clear();
  columns.resize(uses.size());
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (uses[id] == 0) continue;
    const ExprNode& node = pool[static_cast<ExprId>(id)];
    columns[id] = make(static_cast<ExprId>(id));
    if (wanted[id]) visit(static_cast<ExprId>(id), columns[id].size() == 0 ? nullptr : &columns[id]);
    for (const ExprId operand : {node.a, node.b, node.c}) {
      if (operand != sema::kNoExpr && --uses[raw(operand)] == 0) columns[raw(operand)] = {};
    }
  }
  columns.clear();
}

std::vector<std::uint32_t> Tabulation::levelsAt(const Column& column, std::size_t i) const {
  std::vector<std::uint32_t> found(column.cone.size());
  for (std::size_t k = column.cone.size(); k-- > 0;) {
    const std::size_t size = levels[column.cone[k]].size();
    found[k] = static_cast<std::uint32_t>(i % size);
    i /= size;
  }
  return found;
}

}  // namespace tbem::spec
