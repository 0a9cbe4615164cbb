// Functions of elaboration time: on numbers, lists and shapes.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/support/Unicode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tbem::sema {

namespace {
constexpr std::array<std::string_view, 24> kBuiltins = {
    "len", "sum",  "product", "min",     "max",   "abs",  "floor",     "ceil",           "round",
    "map", "zip",  "reverse", "replace", "drop",  "keep", "broadcast", "broadcast_axes", "shape",
    "str", "sqrt", "exp",     "log",     "bound", "pow"};
}

bool isBuiltin(std::string_view name) {
  return isCollectionWord(name) || std::find(kBuiltins.begin(), kBuiltins.end(), name) != kBuiltins.end();
}

namespace {
/// What a family of builtins needs from the evaluator, spelt short.
struct Call {
  std::string_view name;
  Arguments& arguments;
  std::size_t count() const { return arguments.list.size(); }
  const Value& operator[](std::size_t i) const { return arguments.list[i].value; }
  SrcRange range(std::size_t i) const { return arguments.list[i].range; }
};

/// Least and most arguments.
std::pair<std::size_t, std::size_t> arity(std::string_view name) {
  if (name == "min" || name == "max" || name == "sum" || name == "product") return {1, 1000};
  if (name == "replace") return {3, 3};
  if (name == "map" || name == "drop" || name == "keep" || name == "broadcast" || name == "broadcast_axes" || name == "pow")
    return {2, 2};
  if (name == "zip") return {2, 1000};
  return {1, 1};
}
}  // namespace

/// The shape that NumPy's rule gives, aligned on the right; a constant 1 stretches, other dimensions must agree.
static std::vector<Value> broadcastShapes(ExprPool& pool, const std::vector<Value>& a, const std::vector<Value>& b) {
  std::vector<Value> result(std::max(a.size(), b.size()));
  for (std::size_t k = 1; k <= result.size(); ++k) {
    const Value* x = k <= a.size() ? &a[a.size() - k] : nullptr;
    const Value* y = k <= b.size() ? &b[b.size() - k] : nullptr;
    const auto isOne = [&](const Value* v) { return pool.constantValue(v->expr) == Rational::of(1); };
    result[result.size() - k] = x == nullptr ? *y : y == nullptr || !isOne(x) ? *x : *y;
  }
  return result;
}

/// Characters of a text: code points, of which a byte that is no UTF-8 counts as one.
static std::int64_t codePoints(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).bytes) ++count;
  return count;
}

Value Evaluator::callBuiltin(std::string_view name, Arguments arguments) {
  const Call call{name, arguments};
  const auto [least, most] = arity(name);
  for (const BoundArgument& one : arguments.list) {
    if (one.value.isPoison()) return {};
    if (!one.name.empty()) return fail(diag::unknown_argument, one.range, name, one.name);
    if (one.value.isRuntime() && name != "shape" && name != "len")
      return fail(diag::unknown_at_compile_time, one.range, "the argument of `" + std::string(name) + "`");
  }
  if (isCollectionWord(name)) return collectionCall(name, arguments);
  if (call.count() == 1 && call[0].is(ValueKind::Sequence) && (name == "len" || name == "sum")) {
    if (name == "len") return Value::number(call[0].expr);
    for (const Value& item : call[0].items) {
      if (!item.is(ValueKind::Number)) return wrongKind(call.range(0), "an element of what `sum` adds", "a number", item);
    }
    return sumOf(call[0]);
  }
  if (call.count() < least)
    return fail(diag::wrong_kind, arguments.use, "`" + std::string(name) + "`", std::to_string(least) + " arguments",
                std::to_string(call.count()));
  if (call.count() > most)
    return fail(diag::too_many_arguments, call.range(most), name,
                std::to_string(most) + (most == 1 ? " argument" : " arguments"));

  const auto numbers = [&](std::size_t from) -> std::optional<std::vector<Value>> {
    std::vector<Value> all;
    if (call.count() == from + 1 && !call[from].is(ValueKind::Number)) {
      const auto spread = elements(call[from], call.range(from));
      if (!spread) return std::nullopt;
      all = *spread;
    } else {
      for (std::size_t i = from; i < call.count(); ++i) all.push_back(call[i]);
    }
    for (const Value& one : all) {
      if (one.is(ValueKind::Number)) continue;
      wrongKind(call.range(from), "`" + std::string(name) + "`", "numbers", one);
      return std::nullopt;
    }
    return all;
  };

  if (name == "len") {
    if (call[0].is(ValueKind::String)) return integerValue(codePoints(call[0].text));
    if (call[0].isRuntime()) return wrongKind(call.range(0), "`len`", "a list", call[0]);
    const auto all = elements(call[0], call.range(0));
    return all ? integerValue(static_cast<std::int64_t>(all->size())) : Value{};
  }
  if (name == "sum" || name == "product" || name == "min" || name == "max") {
    const auto all = numbers(0);
    if (!all) return {};
    if (all->empty()) {
      if (name == "sum") return integerValue(0);
      if (name == "product") return integerValue(1);
      return fail(diag::wrong_kind, arguments.use, "`" + std::string(name) + "`", "at least one number", "none");
    }
    const ExprOp op = name == "sum" ? ExprOp::Add : name == "product" ? ExprOp::Mul : name == "min" ? ExprOp::Min : ExprOp::Max;
    Value total = all->front();
    for (std::size_t i = 1; i < all->size() && !total.isPoison(); ++i) {
      if (op != ExprOp::Mul && total.unit != (*all)[i].unit)
        return fail(diag::units_differ, arguments.use, "compare", "one unit", "another");
      total = makeNumber(op, total, (*all)[i], arguments.use, arguments.use);
    }
    return total;
  }
  if (name == "abs" || name == "floor" || name == "ceil" || name == "round") {
    if (!call[0].is(ValueKind::Number)) return wrongKind(call.range(0), "`" + std::string(name) + "`", "a number", call[0]);
    const Value one = integerValue(1);
    const SrcRange at = arguments.use;
    if (name == "abs") {
      Value zero = integerValue(0);
      zero.unit = call[0].unit;
      return makeNumber(ExprOp::Max, call[0], makeNumber(ExprOp::Sub, zero, call[0], at, at), at, at);
    }
    if (name == "floor") return makeNumber(ExprOp::FloorDiv, call[0], one, at, at);
    if (name == "ceil") return makeNumber(ExprOp::CeilDiv, call[0], one, at, at);
    if (pool.isWhole(call[0].expr)) return call[0];
    // floor(x) and 1 more where the rest is a half or above: x + 1/2 may leave 64 bits where the result does not.
    const Value below = makeNumber(ExprOp::FloorDiv, call[0], one, at, at);
    const Value rest = makeNumber(ExprOp::Sub, call[0], below, at, at);
    const Value half = Value::number(pool.constant(Rational{1, 2}));
    return makeNumber(ExprOp::Add, below, makeNumber(ExprOp::FloorDiv, rest, half, at, at), at, at);
  }
  if (name == "pow") {
    if (!call[0].is(ValueKind::Number)) return wrongKind(call.range(0), "`pow`", "a number", call[0]);
    if (!call[1].is(ValueKind::Number)) return wrongKind(call.range(1), "`pow`", "a number", call[1]);
    return makePower(call[0], call[1], arguments.use, call.range(1));
  }
  if (name == "sqrt" || name == "exp" || name == "log") {
    // Not rational: the nearest number that has a name here, which fixes the symbols it came from.
    const auto value = force(call[0], call.range(0));
    if (!value) return {};
    if (name == "sqrt" && value->num < 0)
      return fail(diag::wrong_kind, call.range(0), "`sqrt`", "a number of 0 or more", value->str());
    if (name == "log" && value->num <= 0) return fail(diag::wrong_kind, call.range(0), "`log`", "a number above 0", value->str());
    const double x = value->toDouble();
    const double result = name == "sqrt" ? std::sqrt(x) : name == "exp" ? std::exp(x) : std::log(x);
    return rounded(result, arguments.use, std::string(name) + "(" + value->str() + ")");
  }
  if (name == "str") {
    if (call[0].is(ValueKind::String)) return call[0];
    if (!call[0].is(ValueKind::Number) && !call[0].is(ValueKind::Bool)) return Value::string(print(pool, call[0]));
    const auto value = force(call[0], call.range(0));
    if (!value) return {};
    return Value::string(call[0].is(ValueKind::Bool) ? (value->num != 0 ? "true" : "false") : value->str());
  }
  if (name == "shape") {
    if (!call[0].isRuntime()) return wrongKind(call.range(0), "`shape`", "a tensor", call[0]);
    const auto shape = shapeOf(call[0]);
    return shape ? Value::list(*shape) : Value{};
  }
  if (name == "map") {
    const bool functionFirst = !call[0].is(ValueKind::List);
    const auto all = elements(call[functionFirst ? 1 : 0], call.range(functionFirst ? 1 : 0));
    if (!all) return {};
    Value result = Value::ofKind(ValueKind::List);
    for (const Value& one : *all) {
      const Value& function = call[functionFirst ? 0 : 1];
      Arguments inner;
      inner.use = arguments.use;
      inner.list.push_back({{}, one, arguments.use});
      Value made;
      if (function.is(ValueKind::Builtin))
        made = callBuiltin(function.text, std::move(inner));
      else if (const auto* declared = ast::dynCast<ast::Function>(function.decl))
        made = callFunction(*declared, *function.module, std::move(inner));
      else
        return fail(diag::not_callable, call.range(functionFirst ? 0 : 1), kindName(function));
      if (made.isPoison()) return {};
      result.items.push_back(charged(std::move(made)));
    }
    return result;
  }
  if (name == "bound") return fail(diag::not_there_yet, arguments.use, "`bound` outside a process is");

  // Lists and shapes.
  std::vector<std::vector<Value>> lists;
  for (std::size_t i = 0; i < call.count(); ++i) {
    if (i > 0 && call[i].is(ValueKind::Number)) {
      lists.push_back({call[i]});
      continue;
    }
    auto all = elements(call[i], call.range(i));
    if (!all) return {};
    lists.push_back(std::move(*all));
  }
  if (name == "reverse") {
    std::reverse(lists[0].begin(), lists[0].end());
    return Value::list(std::move(lists[0]));
  }
  if (name == "zip") {
    std::size_t length = lists[0].size();
    for (const auto& one : lists) length = std::min(length, one.size());
    Value result = Value::ofKind(ValueKind::List);
    for (std::size_t i = 0; i < length; ++i) {
      Value row = Value::ofKind(ValueKind::Tuple);
      for (const auto& one : lists) row.items.push_back(one[i]);
      result.items.push_back(std::move(row));
    }
    return result;
  }
  if (name == "broadcast") return Value::list(broadcastShapes(pool, lists[0], lists[1]));
  if (name == "broadcast_axes") {
    const auto& small = lists[0];
    const auto& large = lists[1];
    Value result = Value::ofKind(ValueKind::List);
    const std::size_t missing = large.size() > small.size() ? large.size() - small.size() : 0;
    for (std::size_t i = 0; i < large.size(); ++i) {
      const bool one = i >= missing && pool.constantValue(small[i - missing].expr) == Rational::of(1) &&
                       pool.constantValue(large[i].expr) != Rational::of(1);
      if (i < missing || one) result.items.push_back(integerValue(static_cast<std::int64_t>(i)));
    }
    return result;
  }
  // replace, drop, keep: positions along a shape; negative ones count from the end.
  std::vector<bool> chosen(lists[0].size(), false);
  for (const Value& position : lists[1]) {
    const auto at = forceInt(position, "an axis", call.range(1));
    if (!at) return {};
    const auto rank = static_cast<std::int64_t>(lists[0].size());
    const std::int64_t index = *at < 0 ? *at + rank : *at;
    if (index < 0 || index >= rank) return fail(diag::index_out_of_range, call.range(1), *at, "shape", rank);
    chosen[static_cast<std::size_t>(index)] = true;
  }
  Value result = Value::ofKind(ValueKind::List);
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    if (!chosen[i])
      result.items.push_back(lists[0][i]);
    else if (name == "replace")
      result.items.push_back(call[2]);
    else if (name == "keep")
      result.items.push_back(integerValue(1));
  }
  return result;
}

}  // namespace tbem::sema
