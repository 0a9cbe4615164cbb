// Functions of elaboration time: their table, and those of numbers and texts.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/support/Unicode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::sema {

namespace {
/// Characters of a text: code points, of which a byte that is no UTF-8 counts as one.
std::int64_t codePoints(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).bytes) ++count;
  return count;
}

enum class Takes : std::uint8_t {
  Values,       ///< known when the graph is built
  Tensors,      ///< also what only a run knows
  Collections,  ///< sequences and sets of specifications
};
constexpr std::size_t kMany = 1000;
}  // namespace

struct Evaluator::Builtin {
  std::string_view name;
  std::size_t least = 0, most = 0;  ///< arguments
  Value (Evaluator::*call)(const BuiltinCall&) = nullptr;
  Takes takes = Takes::Values;
};

const Evaluator::Builtin* Evaluator::builtin(std::string_view name) {
  static constexpr Builtin kBuiltins[] = {
      {"len", 1, 1, &Evaluator::callLength, Takes::Tensors},
      {"sum", 1, kMany, &Evaluator::callFold},
      {"product", 1, kMany, &Evaluator::callFold},
      {"min", 1, kMany, &Evaluator::callFold},
      {"max", 1, kMany, &Evaluator::callFold},
      {"abs", 1, 1, &Evaluator::callRounding},
      {"floor", 1, 1, &Evaluator::callRounding},
      {"ceil", 1, 1, &Evaluator::callRounding},
      {"round", 1, 1, &Evaluator::callRounding},
      {"pow", 2, 2, &Evaluator::callPower},
      {"sqrt", 1, 1, &Evaluator::callTranscendental},
      {"exp", 1, 1, &Evaluator::callTranscendental},
      {"log", 1, 1, &Evaluator::callTranscendental},
      {"sin", 1, 1, &Evaluator::callTranscendental},
      {"cos", 1, 1, &Evaluator::callTranscendental},
      {"tanh", 1, 1, &Evaluator::callTranscendental},
      {"str", 1, 1, &Evaluator::callText},
      {"bound", 1, 1, &Evaluator::callBound},
      {"shape", 1, 1, &Evaluator::callShape, Takes::Tensors},
      {"map", 2, 2, &Evaluator::callMap},
      {"zip", 2, kMany, &Evaluator::callZip},
      {"reverse", 1, 1, &Evaluator::callReverse},
      {"replace", 3, 3, &Evaluator::callAtAxes},
      {"drop", 2, 2, &Evaluator::callAtAxes},
      {"keep", 2, 2, &Evaluator::callAtAxes},
      {"broadcast", 2, 2, &Evaluator::callBroadcast},
      {"broadcast_axes", 2, 2, &Evaluator::callBroadcastAxes},
      {"hd", 1, 1, &Evaluator::callOnSequences, Takes::Collections},
      {"tl", 1, 1, &Evaluator::callOnSequences, Takes::Collections},
      {"elems", 1, 1, &Evaluator::callOnSequences, Takes::Collections},
      {"inds", 1, 1, &Evaluator::callOnSequences, Takes::Collections},
      {"conc", 2, 2, &Evaluator::callOnSequences, Takes::Collections},
      {"card", 1, 1, &Evaluator::callOnSets, Takes::Collections},
      {"union", 2, 2, &Evaluator::callOnSets, Takes::Collections},
      {"inter", 2, 2, &Evaluator::callOnSets, Takes::Collections},
      {"diff", 2, 2, &Evaluator::callOnSets, Takes::Collections},
      {"inset", 2, 2, &Evaluator::callOnSets, Takes::Collections},
  };
  // Every call asks, and most are of operators: the few of one first letter are compared.
  static const auto kByLetter = [] {
    std::array<std::vector<const Builtin*>, 'z' - 'a' + 1> made;
    for (const Builtin& row : kBuiltins) made[static_cast<std::size_t>(row.name.front() - 'a')].push_back(&row);
    return made;
  }();
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return nullptr;
  for (const Builtin* row : kByLetter[static_cast<std::size_t>(name.front() - 'a')]) {
    if (row->name == name) return row;
  }
  return nullptr;
}

Value Evaluator::callBuiltin(const Builtin& row, const Arguments& arguments) {
  const std::string_view name = row.name;
  const BuiltinCall call{name, arguments};
  for (const BoundArgument& one : arguments.list) {
    if (one.value.isPoison()) return {};
    if (!one.name.empty()) return fail(diag::unknown_argument, one.range, name, one.name);
    if (one.value.isRuntime() && row.takes != Takes::Tensors)
      return fail(diag::unknown_at_compile_time, one.range, "the argument of " + call.quoted());
  }
  if (row.takes == Takes::Collections) {
    if (call.count() != row.least)
      return fail(diag::wrong_kind, arguments.use, call.quoted(), row.least == 1 ? "one argument" : "two arguments",
                  std::to_string(call.count()));
  } else if (call.count() < row.least) {
    return fail(diag::wrong_kind, arguments.use, call.quoted(), std::to_string(row.least) + " arguments",
                std::to_string(call.count()));
  } else if (call.count() > row.most) {
    return fail(diag::too_many_arguments, call.range(row.most), name,
                std::to_string(row.most) + (row.most == 1 ? " argument" : " arguments"));
  }
  return (this->*row.call)(call);
}

// ---- Numbers -----------------------------------------------------------------------------------------------------------

Value Evaluator::callLength(const BuiltinCall& call) {
  if (call[0].is(ValueKind::Sequence)) return Value::number(call[0].expr);
  if (call[0].is(ValueKind::String)) return integerValue(codePoints(call[0].text()));
  if (call[0].isRuntime()) return wrongKind(call.range(0), "`len`", "a list", call[0]);
  const auto all = elements(call[0], call.range(0));
  return all ? integerValue(static_cast<std::int64_t>(all->size())) : Value{};
}

/// The arguments, or the elements of an only one: numbers all.
std::optional<SharedVector<Value>> Evaluator::numbersOf(const BuiltinCall& call) {
  SharedVector<Value> all;
  if (call.count() == 1 && !call[0].is(ValueKind::Number)) {
    auto spread = elements(call[0], call.range(0));
    if (!spread) return std::nullopt;
    all = std::move(*spread);
  } else {
    for (const BoundArgument& one : call.arguments.list) all.push_back(one.value);
  }
  for (const Value& one : all) {
    if (one.is(ValueKind::Number)) continue;
    wrongKind(call.range(0), call.quoted(), "numbers", one);
    return std::nullopt;
  }
  return all;
}

/// `sum product min max`.
Value Evaluator::callFold(const BuiltinCall& call) {
  const std::string_view name = call.name;
  if (name == "sum" && call.count() == 1 && call[0].is(ValueKind::Sequence)) {
    for (const Value& item : call[0].items) {
      if (!item.is(ValueKind::Number)) return wrongKind(call.range(0), "an element of what `sum` adds", "a number", item);
    }
    return sumOf(call[0]);
  }
  const SrcRange use = call.arguments.use;
  const auto all = numbersOf(call);
  if (!all) return {};
  if (all->empty()) {
    if (name == "sum") return integerValue(0);
    if (name == "product") return integerValue(1);
    return fail(diag::wrong_kind, use, call.quoted(), "at least one number", "none");
  }
  const ExprOp op = name == "sum" ? ExprOp::Add : name == "product" ? ExprOp::Mul : name == "min" ? ExprOp::Min : ExprOp::Max;
  Value total = all->front();
  for (std::size_t i = 1; i < all->size() && !total.isPoison(); ++i) {
    if (op != ExprOp::Mul && total.unit != (*all)[i].unit) return fail(diag::units_differ, use, "compare", "one unit", "another");
    total = makeNumber(op, total, (*all)[i], use, use);
  }
  return total;
}

/// `abs floor ceil round`.
Value Evaluator::callRounding(const BuiltinCall& call) {
  const Value& x = call[0];
  if (!x.is(ValueKind::Number)) return wrongKind(call.range(0), call.quoted(), "a number", x);
  const Value one = integerValue(1);
  const SrcRange at = call.arguments.use;
  if (call.name == "abs") {
    Value zero = integerValue(0);
    zero.unit = x.unit;
    return makeNumber(ExprOp::Max, x, makeNumber(ExprOp::Sub, zero, x, at, at), at, at);
  }
  if (call.name == "floor") return makeNumber(ExprOp::FloorDiv, x, one, at, at);
  if (call.name == "ceil") return makeNumber(ExprOp::CeilDiv, x, one, at, at);
  if (pool.isWhole(x.expr)) return x;
  // floor(x) and 1 more where the rest is a half or above: x + 1/2 may leave 64 bits where the result does not.
  const Value below = makeNumber(ExprOp::FloorDiv, x, one, at, at);
  const Value rest = makeNumber(ExprOp::Sub, x, below, at, at);
  const Value half = Value::number(pool.constant(Rational{1, 2}));
  return makeNumber(ExprOp::Add, below, makeNumber(ExprOp::FloorDiv, rest, half, at, at), at, at);
}

Value Evaluator::callPower(const BuiltinCall& call) {
  if (!call[0].is(ValueKind::Number)) return wrongKind(call.range(0), "`pow`", "a number", call[0]);
  if (!call[1].is(ValueKind::Number)) return wrongKind(call.range(1), "`pow`", "a number", call[1]);
  return makePower(call[0], call[1], call.arguments.use, call.range(1));
}

/// `sqrt exp log sin cos tanh`. Not rational: the nearest number that has a name here, which fixes the symbols it came from.
Value Evaluator::callTranscendental(const BuiltinCall& call) {
  const std::string_view name = call.name;
  const auto value = force(call[0], call.range(0));
  if (!value) return {};
  if (name == "sqrt" && value->num < 0)
    return fail(diag::wrong_kind, call.range(0), "`sqrt`", "a number of 0 or more", value->str());
  if (name == "log" && value->num <= 0) return fail(diag::wrong_kind, call.range(0), "`log`", "a number above 0", value->str());
  const double x = value->toDouble();
  const double result = name == "sqrt"  ? std::sqrt(x)
                        : name == "exp" ? std::exp(x)
                        : name == "log" ? std::log(x)
                        : name == "sin" ? std::sin(x)
                        : name == "cos" ? std::cos(x)
                                        : std::tanh(x);
  return rounded(result, call.arguments.use, std::string(name) + "(" + value->str() + ")");
}

/// `str`.
Value Evaluator::callText(const BuiltinCall& call) {
  if (call[0].is(ValueKind::String)) return call[0];
  if (!call[0].is(ValueKind::Number) && !call[0].is(ValueKind::Bool)) return Value::string(print(pool, call[0]));
  const auto value = force(call[0], call.range(0));
  if (!value) return {};
  return Value::string(call[0].is(ValueKind::Bool) ? (value->num != 0 ? "true" : "false") : value->str());
}

Value Evaluator::callBound(const BuiltinCall& call) {
  return fail(diag::not_there_yet, call.arguments.use, "`bound` outside a process is");
}

}  // namespace tbem::sema
