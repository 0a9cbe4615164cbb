// Functions of elaboration time on lists and shapes.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <utility>

namespace tbem::sema {

namespace {
/// The shape that NumPy's rule gives, aligned on the right; a constant 1 stretches, other dimensions must agree.
std::vector<Value> broadcastShapes(ExprPool& pool, const std::vector<Value>& a, const std::vector<Value>& b) {
  std::vector<Value> result = a.size() >= b.size() ? a : b;
  for (std::size_t k = 1; k <= std::min(a.size(), b.size()); ++k) {
    const Value& x = a[a.size() - k];
    const Value& y = b[b.size() - k];
    result[result.size() - k] = pool.constantValue(x.expr) == Rational::of(1) ? y : x;
  }
  return result;
}
}  // namespace

Value Evaluator::callShape(const BuiltinCall& call) {
  if (!call[0].isRuntime()) return wrongKind(call.range(0), "`shape`", "a tensor", call[0]);
  auto shape = shapeOf(call[0]);
  return shape ? Value::list(std::move(*shape)) : Value{};
}

Value Evaluator::callMap(const BuiltinCall& call) {
  const bool functionFirst = !call[0].is(ValueKind::List);
  const std::size_t list = functionFirst ? 1 : 0;
  const auto all = elements(call[list], call.range(list));
  if (!all) return {};
  const Value& function = call[1 - list];
  Value result = Value::ofKind(ValueKind::List);
  for (const Value& one : *all) {
    Arguments inner;
    inner.use = call.arguments.use;
    inner.list.push_back({{}, one, call.arguments.use});
    Value mapped;
    if (function.is(ValueKind::Builtin))
      mapped = callBuiltin(function.text(), inner);
    else if (const auto* declared = ast::dynCast<ast::Function>(function.decl))
      mapped = callFunction(*declared, *function.module, std::move(inner));
    else
      return fail(diag::not_callable, call.range(1 - list), kindName(function));
    if (mapped.isPoison()) return {};
    result.items.push_back(charged(std::move(mapped)));
  }
  return result;
}

/// The elements of each argument; a number behind the first stands alone.
std::optional<std::vector<SharedVector<Value>>> Evaluator::listsOf(const BuiltinCall& call) {
  std::vector<SharedVector<Value>> lists;
  lists.reserve(call.count());
  for (std::size_t i = 0; i < call.count(); ++i) {
    if (i > 0 && call[i].is(ValueKind::Number)) {
      lists.push_back({call[i]});
      continue;
    }
    auto all = elements(call[i], call.range(i));
    if (!all) return std::nullopt;
    lists.push_back(std::move(*all));
  }
  return lists;
}

Value Evaluator::callReverse(const BuiltinCall& call) {
  auto lists = listsOf(call);
  if (!lists) return {};
  std::ranges::reverse(lists->front().own());
  return Value::list(std::move(lists->front()));
}

Value Evaluator::callZip(const BuiltinCall& call) {
  const auto lists = listsOf(call);
  if (!lists) return {};
  std::size_t length = lists->front().size();
  for (const auto& one : *lists) length = std::min(length, one.size());
  Value result = Value::ofKind(ValueKind::List);
  for (std::size_t i = 0; i < length; ++i) {
    Value row = Value::ofKind(ValueKind::Tuple);
    for (const auto& one : *lists) row.items.push_back(one[i]);
    result.items.push_back(std::move(row));
  }
  return result;
}

Value Evaluator::callBroadcast(const BuiltinCall& call) {
  const auto lists = listsOf(call);
  return lists ? Value::list(broadcastShapes(pool, (*lists)[0], (*lists)[1])) : Value{};
}

/// The axes of the larger shape along which the smaller one is stretched.
Value Evaluator::callBroadcastAxes(const BuiltinCall& call) {
  const auto lists = listsOf(call);
  if (!lists) return {};
  const std::vector<Value>& small = (*lists)[0];
  const std::vector<Value>& large = (*lists)[1];
  Value result = Value::ofKind(ValueKind::List);
  const std::size_t missing = large.size() > small.size() ? large.size() - small.size() : 0;
  for (std::size_t i = 0; i < large.size(); ++i) {
    const bool one = i >= missing && pool.constantValue(small[i - missing].expr) == Rational::of(1) &&
                     pool.constantValue(large[i].expr) != Rational::of(1);
    if (i < missing || one) result.items.push_back(integerValue(static_cast<std::int64_t>(i)));
  }
  return result;
}

/// `replace drop keep`: positions along a shape; negative ones count from the end.
Value Evaluator::callAtAxes(const BuiltinCall& call) {
  const auto lists = listsOf(call);
  if (!lists) return {};
  const std::vector<Value>& shape = lists->front();
  std::vector<bool> chosen(shape.size(), false);
  for (const Value& position : (*lists)[1]) {
    const auto at = forceInt(position, "an axis", call.range(1));
    if (!at) return {};
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t index = *at < 0 ? *at + rank : *at;
    if (index < 0 || index >= rank) return fail(diag::index_out_of_range, call.range(1), *at, "shape", rank);
    chosen[static_cast<std::size_t>(index)] = true;
  }
  std::vector<Value> changed;
  changed.reserve(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!chosen[i])
      changed.push_back(shape[i]);
    else if (call.name == "replace")
      changed.push_back(call[2]);
    else if (call.name == "keep")
      changed.push_back(integerValue(1));
  }
  return Value::list(std::move(changed));
}

}  // namespace tbem::sema
