// Sequences and sets of specifications: what is known of them is elements, each beside the condition under which it is there.
//
// A sequence has a length, which may be an expression, and as many elements as it can have at most. A set has members, each with
// a condition; the same value may stand there twice. Lists and ranges are sequences, lists of known values sets.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

namespace tbem::sema {

namespace {
bool isKnownSequence(const Value& value) { return value.is(ValueKind::List) || value.is(ValueKind::Tuple); }
bool isSequence(const Value& value) { return value.is(ValueKind::Sequence) || isKnownSequence(value); }

/// The sequence as one whose length is an expression.
Value withLength(ExprPool& pool, const Value& sequence) {
  if (sequence.is(ValueKind::Sequence)) return sequence;
  Value made = Value::ofKind(ValueKind::Sequence);
  made.expr = pool.constant(static_cast<std::int64_t>(sequence.items.size()));
  made.items = sequence.items;
  return made;
}

/// `yes` where the condition holds, else `no`, of one kind: elements of sequences, which may be sequences and sets themselves.
Value chosen(ExprPool& pool, ExprId condition, const Value& yes, const Value& no) {
  if (isSequence(yes) && isSequence(no)) {
    const Value a = withLength(pool, yes), b = withLength(pool, no);
    const std::size_t both = std::min(a.items.size(), b.items.size());
    Value made = a.items.size() < b.items.size() ? b : a;
    made.expr = pool.make(ExprOp::Select, condition, a.expr, b.expr);
    for (std::size_t i = 0; i < both; ++i) made.items.own()[i] = chosen(pool, condition, a.items[i], b.items[i]);
    return made;
  }
  if (yes.is(ValueKind::Subset) && no.is(ValueKind::Subset)) {
    Value made = Value::ofKind(ValueKind::Subset);
    if (yes.expr != kNoExpr && no.expr != kNoExpr) made.expr = pool.make(ExprOp::Select, condition, yes.expr, no.expr);
    for (const bool isYes : {true, false}) {
      for (const Value& one : isYes ? yes.items : no.items) {
        Value member = one;
        ExprId& here = member.items.own()[0].expr;
        here = isYes ? pool.make(ExprOp::Select, condition, here, pool.constant(0))
                     : pool.make(ExprOp::Select, condition, pool.constant(0), here);
        made.items.push_back(std::move(member));
      }
    }
    return made;
  }
  Value made = no;
  made.expr = pool.make(ExprOp::Select, condition, yes.expr, no.expr);
  made.isReal = yes.isReal || no.isReal;
  return made;
}

/// The value where the condition holds, else none.
Value where(ExprPool& pool, ExprId condition, Value value) {
  if (isSequence(value)) value = withLength(pool, value);
  if (value.is(ValueKind::Subset)) {
    for (Value& member : value.items.own()) {
      ExprId& here = member.items.own()[0].expr;
      here = pool.make(ExprOp::Select, condition, here, pool.undefined());
    }
    if (value.expr == kNoExpr) return value;
  }
  value.expr = pool.make(ExprOp::Select, condition, value.expr, pool.undefined());
  return value;
}
}  // namespace

ExprId Evaluator::lengthOf(const Value& sequence) {
  return sequence.is(ValueKind::Sequence) ? sequence.expr : pool.constant(static_cast<std::int64_t>(sequence.items.size()));
}

Value Evaluator::elementOf(const Value& sequence, ExprId position) {
  const ExprId inside = pool.make(ExprOp::And, pool.make(ExprOp::LessEqual, pool.constant(0), position),
                                  pool.make(ExprOp::Less, position, lengthOf(sequence)));
  if (sequence.items.empty()) return Value::number(pool.undefined());
  Value made = sequence.items.back();
  for (std::size_t i = sequence.items.size() - 1; i-- > 0;) {
    const ExprId here = pool.make(ExprOp::Equal, position, pool.constant(static_cast<std::int64_t>(i)));
    made = chosen(pool, here, sequence.items[i], made);
  }
  return charged(where(pool, inside, std::move(made)));
}

std::optional<std::vector<Evaluator::Member>> Evaluator::members(const Value& set, SrcRange range) {
  std::vector<Member> list;
  if (set.is(ValueKind::Subset)) {
    for (const Value& one : set.items) list.push_back({one.items[0].expr, one.items[1]});
    return list;
  }
  const auto known = elements(set, range);
  if (!known) return std::nullopt;
  for (const Value& one : *known) list.push_back({pool.constant(1), one});
  return list;
}

Value Evaluator::subset(const std::vector<Member>& list) {
  Value made = Value::ofKind(ValueKind::Subset);
  for (const Member& one : list) {
    if (pool.constantValue(one.here) == Rational::of(0)) continue;
    made.items.push_back(Value::tuple({Value::boolean(one.here), one.value}));
  }
  return charged(std::move(made));
}

/// kNoExpr where values cannot be compared.
ExprId Evaluator::contains(const std::vector<Member>& set, const Value& value) {
  ExprId any = pool.constant(0);
  for (const Member& one : set) {
    const ExprId same = equal(one.value, value);
    if (same == kNoExpr) return kNoExpr;
    any = pool.make(ExprOp::Or, any, pool.make(ExprOp::And, one.here, same));
  }
  return any;
}

/// Whether a number stands in a range, whose ends may be unknown.
ExprId Evaluator::insideRange(const Value& range, ExprId number) {
  const ExprId above = pool.make(ExprOp::LessEqual, range.items[0].expr, number);
  const ExprId below = pool.make(range.inclusive ? ExprOp::LessEqual : ExprOp::Less, number, range.items[1].expr);
  const ExprId offset = pool.make(ExprOp::Sub, number, range.items[0].expr);
  const ExprId fits = pool.make(ExprOp::Equal, pool.make(ExprOp::Mod, offset, range.items[2].expr), pool.constant(0));
  return pool.make(ExprOp::And, pool.make(ExprOp::And, above, below), fits);
}

ExprId Evaluator::equalSets(const Value& a, const Value& b) {
  const auto left = members(a, {}), right = members(b, {});
  if (!left || !right) return kNoExpr;
  ExprId all = pool.constant(1);
  for (const bool turned : {false, true}) {
    for (const Member& one : turned ? *right : *left) {
      const ExprId inside = contains(turned ? *left : *right, one.value);
      if (inside == kNoExpr) return kNoExpr;
      all = pool.make(ExprOp::And, all, pool.make(ExprOp::Or, pool.make(ExprOp::Not, one.here), inside));
    }
  }
  return all;
}

ExprId Evaluator::equalSequences(const Value& a, const Value& b) {
  const ExprId length = lengthOf(a);
  ExprId all = pool.make(ExprOp::Equal, length, lengthOf(b));
  for (std::size_t i = 0; i < std::min(a.items.size(), b.items.size()); ++i) {
    const ExprId same = equal(a.items[i], b.items[i]);
    if (same == kNoExpr) return kNoExpr;
    const ExprId beyond = pool.make(ExprOp::LessEqual, length, pool.constant(static_cast<std::int64_t>(i)));
    all = pool.make(ExprOp::And, all, pool.make(ExprOp::Or, beyond, same));
  }
  return all;
}

Value Evaluator::concatenated(const Value& a, const Value& b) {
  Value made = Value::ofKind(ValueKind::Sequence);
  const ExprId length = lengthOf(a);
  made.expr = pool.make(ExprOp::Add, length, lengthOf(b));
  for (std::size_t i = 0; i < a.items.size() + b.items.size(); ++i) {
    const ExprId at = pool.constant(static_cast<std::int64_t>(i));
    const ExprId first = pool.make(ExprOp::Less, at, length);
    Value element = b.items.empty() ? a.items[i] : elementOf(b, pool.make(ExprOp::Sub, at, length));
    if (i < a.items.size() && !b.items.empty()) element = chosen(pool, first, a.items[i], element);
    made.items.push_back(std::move(element));
  }
  return charged(std::move(made));
}

Value Evaluator::sumOf(const Value& sequence) {
  Value total = integerValue(0);
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    const ExprId there = pool.make(ExprOp::Less, pool.constant(static_cast<std::int64_t>(i)), sequence.expr);
    const ExprId part = pool.make(ExprOp::Select, there, sequence.items[i].expr, pool.constant(0));
    total = Value::number(pool.make(ExprOp::Add, total.expr, part), total.isReal || sequence.items[i].isReal);
  }
  return total;
}

/// `hd tl elems inds` of one sequence.
Value Evaluator::sequenceCall(std::string_view name, const Value& sequence) {
  const ExprId length = lengthOf(sequence);
  if (name == "hd") return elementOf(sequence, pool.constant(0));
  if (name == "tl") {
    Value rest = Value::ofKind(ValueKind::Sequence);
    const ExprId some = pool.make(ExprOp::Less, pool.constant(0), length);
    rest.expr = pool.make(ExprOp::Select, some, pool.make(ExprOp::Sub, length, pool.constant(1)), pool.undefined());
    if (!sequence.items.empty()) rest.items = std::vector<Value>(sequence.items.begin() + 1, sequence.items.end());
    return rest;
  }
  std::vector<Member> list;
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    const ExprId there = pool.make(ExprOp::Less, pool.constant(static_cast<std::int64_t>(i)), length);
    list.push_back({there, name == "elems" ? sequence.items[i] : integerValue(static_cast<std::int64_t>(i) + 1)});
  }
  return subset(list);
}

/// How many different members there are; kNoExpr where they cannot be compared.
ExprId Evaluator::cardinality(const std::vector<Member>& set) {
  ExprId count = pool.constant(0);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const ExprId before = contains({set.begin(), set.begin() + static_cast<std::ptrdiff_t>(i)}, set[i].value);
    if (before == kNoExpr) return kNoExpr;
    const ExprId counts = pool.make(ExprOp::And, set[i].here, pool.make(ExprOp::Not, before));
    count = pool.make(ExprOp::Add, count, pool.make(ExprOp::Select, counts, pool.constant(1), pool.constant(0)));
  }
  return count;
}

Value Evaluator::setCall(std::string_view name, const std::vector<Member>& a, const std::vector<Member>& b) {
  std::vector<Member> made = a;
  if (name == "union") {
    made.insert(made.end(), b.begin(), b.end());
    return subset(made);
  }
  for (Member& one : made) {
    ExprId inside = contains(b, one.value);
    if (inside == kNoExpr) return {};
    if (name == "diff") inside = pool.make(ExprOp::Not, inside);
    one.here = pool.make(ExprOp::And, one.here, inside);
  }
  return subset(made);
}

/// `hd tl elems inds conc`.
Value Evaluator::callOnSequences(const BuiltinCall& call) {
  for (std::size_t i = 0; i < call.count(); ++i) {
    if (!isSequence(call[i])) return wrongKind(call.range(i), call.quoted(), "a sequence", call[i]);
  }
  return call.name == "conc" ? concatenated(call[0], call[1]) : sequenceCall(call.name, call[0]);
}

/// `card union inter diff inset`.
Value Evaluator::callOnSets(const BuiltinCall& call) {
  const std::string_view name = call.name;
  const auto isSet = [](const Value& value) {
    return value.is(ValueKind::Set) || value.is(ValueKind::Subset) || value.is(ValueKind::Range) || value.is(ValueKind::List);
  };
  if (name == "inset" && call[1].is(ValueKind::Range) && call[0].is(ValueKind::Number))
    return Value::boolean(insideRange(call[1], call[0].expr));
  if (name == "card" && call[0].is(ValueKind::Subset) && call[0].expr != kNoExpr) return Value::number(call[0].expr);
  std::vector<std::vector<Member>> sets;
  for (std::size_t i = name == "inset" ? 1 : 0; i < call.count(); ++i) {
    if (!isSet(call[i])) return wrongKind(call.range(i), call.quoted(), "a set", call[i]);
    auto found = members(call[i], call.range(i));
    if (!found) return {};
    sets.push_back(std::move(*found));
  }
  Value made;
  if (name == "inset") {
    if (const ExprId inside = contains(sets[0], call[0]); inside != kNoExpr) made = Value::boolean(inside);
  } else if (name == "card") {
    if (const ExprId size = cardinality(sets[0]); size != kNoExpr) made = Value::number(size);
  } else {
    made = setCall(name, sets[0], sets[1]);
  }
  if (made.isPoison()) return fail(diag::wrong_kind, call.arguments.use, call.quoted(), "members of one kind", "several");
  return made;
}

}  // namespace tbem::sema
