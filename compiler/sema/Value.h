// Values of elaboration time.
//
// Numbers and truth values are expressions over the design's symbols (`ExprId`), so that one elaboration serves many rows.
// Tensors, instances and element-wise nodes belong to whoever elaborates graphs; here they are numbers with a kind.
#pragma once

#include "compiler/sema/Modules.h"
#include "compiler/sema/SharedVector.h"
#include "compiler/sema/Symbolic.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::sema {

enum class ValueKind : std::uint8_t {
  Poison,  ///< a mistake was reported; whatever it touches is poison too, in silence
  None,    ///< an absent weight; the value of what has no results
  Number,
  Bool,
  String,
  DType,
  List,
  Tuple,
  Record,
  Set,
  Word,      ///< of a specification: a member of an enumeration, or a text, that is known by its number (`expr`)
  Sequence,  ///< of a specification: `expr` is its length, `items` what it can hold at most
  Subset,    ///< of a specification: `items` are tuples of a condition and what is a member where it holds
  Range,
  Declaration,  ///< an operator, block, network, function, process, design ... by name
  Partial,      ///< a callable with parameters but no tensors, outside any network: `sgd(lr: 0.1)` as a level
  Builtin,
  Module,
  Instance,  ///< a callable with parameters that owns weights
  Tensor,
  Elem
};

/// Exponents of bytes, seconds, joules and floating-point operations; watts are joules a second, hertz is one over seconds.
using UnitPowers = std::array<std::int8_t, 4>;
constexpr std::array<std::string_view, 4> kUnitNames = {"bytes", "seconds", "joules", "FLOPs"};

/// Element types in the order of `tbem_dtype`.
constexpr auto kDTypeNames = std::to_array<std::string_view>({
#define TBEM_DTYPE(enumerator, name, bytes) name,
#include "runtime/include/tbem/dtypes.def"
});
/// Position of the word in kDTypeNames, or -1.
int dtypeIndex(std::string_view word);

struct Value {
  ValueKind kind = ValueKind::Poison;
  bool isReal = false;              ///< Number: of a `real` parameter, so a run-time scalar where run-time arithmetic uses it
  bool inclusive = false;           ///< Range
  UnitPowers unit{};                ///< Number
  ExprId expr = kNoExpr;            ///< Number, Bool, Word, Sequence; how many a Subset has, where it is known
  std::uint32_t id = 0;             ///< DType, Instance, Tensor, Elem, Builtin: position
  const ast::Decl* decl = nullptr;  ///< Declaration, Partial
  const Module* module = nullptr;   ///< Declaration, Partial, Module
  SharedVector<Value> items;        ///< List, Tuple, Set, Record, Range {low, high, step}, Partial
  SharedVector<std::string> words;  ///< names of a Record's fields, of a Partial's parameters; `text`

  friend bool operator==(const Value&, const Value&) = default;
  bool is(ValueKind k) const { return kind == k; }
  bool isPoison() const { return kind == ValueKind::Poison; }
  /// String; Module: its path so far; Builtin: its name.
  const std::string& text() const { return words.front(); }
  bool isRuntime() const { return kind == ValueKind::Tensor || kind == ValueKind::Elem; }

  static Value none() { return ofKind(ValueKind::None); }
  static Value number(ExprId e, bool real = false) {
    Value v = ofKind(ValueKind::Number);
    v.expr = e;
    v.isReal = real;
    return v;
  }
  static Value boolean(ExprId e) {
    Value v = ofKind(ValueKind::Bool);
    v.expr = e;
    return v;
  }
  static Value string(std::string s) { return named(ValueKind::String, std::move(s)); }
  /// Of a kind that has a text.
  static Value named(ValueKind k, std::string text) {
    Value v = ofKind(k);
    v.words = {std::move(text)};
    return v;
  }
  static Value list(SharedVector<Value> items) {
    Value v = ofKind(ValueKind::List);
    v.items = std::move(items);
    return v;
  }
  static Value tuple(SharedVector<Value> items) {
    Value v = ofKind(ValueKind::Tuple);
    v.items = std::move(items);
    return v;
  }
  static Value indexed(ValueKind k, std::uint32_t id) {
    Value v = ofKind(k);
    v.id = id;
    return v;
  }
  static Value declaration(Resolved r) {
    Value v = ofKind(ValueKind::Declaration);
    v.decl = r.decl;
    v.module = r.module;
    return v;
  }
  static Value ofKind(ValueKind k) {
    Value v;
    v.kind = k;
    return v;
  }
};

/// "an int", "a list", "a tensor": for messages.
std::string kindName(const Value& value);
/// The value as a person writes it, in which symbols keep their names: "3", "[1, batch * 2]", "sgd(lr: 0.1)".
std::string print(const ExprPool& pool, const Value& value);

}  // namespace tbem::sema
