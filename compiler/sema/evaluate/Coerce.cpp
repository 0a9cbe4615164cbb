// Declared types of parameters: what a value must be, and how pairs, pads and axes are brought to one form.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <cstring>

namespace tbem::sema {

namespace {
/// Every argument asks for the word of its type, which may be one of a dozen.
bool is(std::string_view word, std::string_view other) {
  return word.size() == other.size() && std::memcmp(word.data(), other.data(), other.size()) == 0;
}

bool isSequence(const Value& value) { return value.is(ValueKind::List) || value.is(ValueKind::Tuple); }

/// Writes a pair or pads out in full. How many numbers there may be, where there are others; else null.
const char* writeOut(std::string_view word, SharedVector<Value>& items) {
  const std::size_t n = items.size();
  if (word == "pair") {
    if (n == 1) items = {items[0], items[0]};
    return n == 1 || n == 2 ? nullptr : "1 or 2 numbers";
  }
  if (word == "pads") {
    if (n == 1) items = {items[0], items[0], items[0], items[0]};
    if (n == 2) items = {items[0], items[1], items[0], items[1]};
    return n == 1 || n == 2 || n == 4 ? nullptr : "1, 2 or 4 numbers";
  }
  return nullptr;
}

std::string quoted(const std::vector<ast::Name>& members) {
  std::string text;
  for (const ast::Name& one : members) text += (text.empty() ? "\"" : ", \"") + one.text + "\"";
  return text;
}
}  // namespace

bool isNatural(const ast::Type& type) {
  const auto* named = ast::dynCast<ast::NamedType>(&type);
  return named != nullptr && (is(named->name.text, "nat") || is(named->name.text, "nat0"));
}

std::string Wanted::text() const {
  return (parameter.empty() ? "the result" : "`" + std::string(parameter) + "`") + " of `" + std::string(callee) + "`";
}

std::optional<Value> Evaluator::coerce(const ast::Type& type, Value value, const Wanted& who, SrcRange range) {
  if (value.isPoison()) return std::nullopt;
  const auto wants = [&](const std::string& what) -> std::optional<Value> {
    wrongKind(range, who.text(), what, value);
    return std::nullopt;
  };
  const auto whole = [&](const Value& number) {
    const auto known = pool.constantValue(number.expr);
    const auto here = known ? known : peek(number.expr);
    if (!here || here->isInt()) return true;
    notWhole(number.expr, who.text(), *here, range);
    return false;
  };
  if (const auto* list = ast::dynCast<ast::ListType>(&type)) {
    if (value.is(ValueKind::Range)) {
      const auto spread = elements(value, range);
      if (!spread) return std::nullopt;
      value = Value::list(*spread);
    }
    if (!isSequence(value) && (list->list != ast::ListKind::Set || !value.is(ValueKind::Set))) return wants("a list");
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      std::optional<Value> typed = coerce(*list->element, value.items[i], who, range);
      if (!typed) return std::nullopt;
      if (*typed != value.items[i]) value.items.own()[i] = std::move(*typed);
    }
    value.kind = list->list == ast::ListKind::Set ? ValueKind::Set : ValueKind::List;
    return value;
  }
  if (const auto* members = ast::dynCast<ast::EnumType>(&type)) {
    for (const ast::Name& one : members->members) {
      if (value.is(ValueKind::String) && value.text() == one.text) return value;
    }
    return wants("one of " + quoted(members->members));
  }
  if (type.kind == ast::NodeKind::TensorType) return value.isRuntime() ? std::optional<Value>(value) : wants("a tensor");
  const auto* named = ast::dynCast<ast::NamedType>(&type);
  if (named == nullptr) return value;
  const std::string_view word = isNatural(type) ? std::string_view("int") : named->name.text;
  if (is(word, "tensor")) return value.isRuntime() ? std::optional<Value>(value) : wants("a tensor");
  if (is(word, "int") || is(word, "real")) {
    if (!value.is(ValueKind::Number)) return wants(is(word, "int") ? "an int" : "a real");
    if (is(word, "int") && !whole(value)) return std::nullopt;
    value.isReal = is(word, "real");
    return value;
  }
  if (is(word, "bool")) return value.is(ValueKind::Bool) ? std::optional<Value>(value) : wants("a bool");
  if (is(word, "string") || is(word, "char"))
    return value.is(ValueKind::String) ? std::optional<Value>(value) : wants("a string");
  if (is(word, "dtype")) return value.is(ValueKind::DType) ? std::optional<Value>(value) : wants("an element type");
  const bool declared =
      (value.is(ValueKind::Declaration) || value.is(ValueKind::Partial)) && value.decl->kind == ast::NodeKind::Callable;
  if (is(word, "schedule")) {  // a number, or an operator that makes one from the step's number
    if (declared && static_cast<const ast::Callable*>(value.decl)->tensors.empty()) return value;
    if (!value.is(ValueKind::Number)) return wants("a number or a schedule such as `cosine(0.1, steps: 1000)`");
    value.isReal = true;
    return value;
  }
  if (is(word, "network") || is(word, "block") || is(word, "operator")) {
    const bool callable = value.is(ValueKind::Instance) || declared;
    return callable ? std::optional<Value>(value) : wants("a network, block or operator");
  }
  if (!is(word, "pair") && !is(word, "pads") && !is(word, "axes")) {
    fail(diag::unknown_type, named->name.range, word);
    return std::nullopt;
  }
  SharedVector<Value> items = isSequence(value) ? value.items : SharedVector<Value>{value};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is(ValueKind::Number))
      return wants(is(word, "axes") ? "an int or a list of int" : "a number or a list of numbers");
    if (!whole(items[i])) return std::nullopt;
    if (items[i].isReal) items.own()[i].isReal = false;
  }
  const std::size_t count = items.size();
  if (const char* wanted = writeOut(word, items)) {
    fail(diag::wrong_kind, range, who.text(), wanted, std::to_string(count));
    return std::nullopt;
  }
  return Value::list(std::move(items));
}

}  // namespace tbem::sema
