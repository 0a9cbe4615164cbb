#include "compiler/spec/network/ListReader.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;
using sema::Value;
using sema::ValueKind;

std::optional<Value> ListReader::specialCall(std::string_view name, const ast::Call& call) {
  if (name == "broadcast" && call.arguments.size() == 2) return broadcastOf(call);
  if (name == "drop" && call.arguments.size() == 2) return dropped(call);
  if (name == "replace" && call.arguments.size() == 3) return replaced(call);
  return Reader::specialCall(name, call);
}

std::optional<Value> ListReader::elementAt(const Value& list, ExprId position) {
  const auto isNumber = [](const Value& item) { return item.is(ValueKind::Number); };
  if (list.items.empty() || !std::all_of(list.items.begin(), list.items.end(), isNumber)) return std::nullopt;
  Value made = list.items.back();
  for (std::size_t i = list.items.size() - 1; i-- > 0;) {
    const ExprId here = pool.make(ExprOp::Equal, position, pool.constant(static_cast<std::int64_t>(i)));
    made.expr = pool.make(ExprOp::Select, here, list.items[i].expr, made.expr);
    made.isReal = made.isReal || list.items[i].isReal;
  }
  return made;
}
/// Of dimensions that are not known: each is the one that is not 1.
Value ListReader::broadcastOf(const ast::Call& call) {
  const Value first = evaluate(*call.arguments[0].value), second = evaluate(*call.arguments[1].value);
  if (!first.is(ValueKind::List) || !second.is(ValueKind::List)) return {};
  const std::vector<Value>&a = first.items, &b = second.items;
  std::vector<Value> made = a.size() >= b.size() ? a : b;
  for (std::size_t k = 1; k <= std::min(a.size(), b.size()); ++k) {
    const ExprId left = a[a.size() - k].expr, right = b[b.size() - k].expr;
    const ExprId isOne = pool.make(ExprOp::Equal, left, pool.constant(1));
    made[made.size() - k] = Value::number(pool.make(ExprOp::Select, isOne, right, left));
  }
  return Value::list(std::move(made));
}

/// A list without the element at one position, which may be unknown.
std::optional<Value> ListReader::dropped(const ast::Call& call) {
  const Value list = evaluate(*call.arguments[0].value), places = evaluate(*call.arguments[1].value);
  const bool one = list.is(ValueKind::List) && places.is(ValueKind::List) && places.items.size() == 1;
  if (!one || list.items.empty() || pool.constantValue(places.items.front().expr)) return std::nullopt;
  std::vector<Value> made(list.items.begin(), list.items.end() - 1);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const ExprId after = pool.make(ExprOp::LessEqual, places.items.front().expr, pool.constant(static_cast<std::int64_t>(i)));
    made[i].expr = pool.make(ExprOp::Select, after, list.items[i + 1].expr, list.items[i].expr);
  }
  return Value::list(std::move(made));
}

/// A list with another element at an unknown position.
std::optional<Value> ListReader::replaced(const ast::Call& call) {
  Value list = evaluate(*call.arguments[0].value);
  const Value place = evaluate(*call.arguments[1].value), by = evaluate(*call.arguments[2].value);
  const bool numbers = list.is(ValueKind::List) && place.is(ValueKind::Number) && by.is(ValueKind::Number);
  if (!numbers || pool.constantValue(place.expr)) return std::nullopt;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const ExprId here = pool.make(ExprOp::Equal, place.expr, pool.constant(static_cast<std::int64_t>(i)));
    list.items.own()[i].expr = pool.make(ExprOp::Select, here, by.expr, list.items[i].expr);
  }
  return list;
}

}  // namespace tbem::spec
