#include "compiler/sema/Value.h"

namespace tbem::sema {

int dtypeIndex(std::string_view word) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == word) return static_cast<int>(i);
  }
  return -1;
}

std::string kindName(const Value& value) {
  switch (value.kind) {
    case ValueKind::Poison:
      return "a mistake";
    case ValueKind::None:
      return "nothing";
    case ValueKind::Number:
      return "a number";
    case ValueKind::Bool:
      return "a bool";
    case ValueKind::String:
      return "a string";
    case ValueKind::DType:
      return "an element type";
    case ValueKind::List:
      return "a list";
    case ValueKind::Tuple:
      return "a tuple";
    case ValueKind::Record:
      return "a record";
    case ValueKind::Set:
    case ValueKind::Subset:
      return "a set";
    case ValueKind::Word:
      return "a member of an enumeration";
    case ValueKind::Sequence:
      return "a sequence";
    case ValueKind::Range:
      return "a range";
    case ValueKind::Declaration:
    case ValueKind::Partial:
      switch (value.decl != nullptr ? value.decl->kind : ast::NodeKind::Error) {
        case ast::NodeKind::Function:
          return "a function";
        case ast::NodeKind::Process:
          return "a process";
        case ast::NodeKind::Design:
          return "a design";
        case ast::NodeKind::Dataset:
          return "a dataset";
        case ast::NodeKind::Train:
          return "a training";
        case ast::NodeKind::Callable:
          switch (static_cast<const ast::Callable*>(value.decl)->callable) {
            case ast::CallableKind::Operator:
              return "an operator";
            case ast::CallableKind::Block:
              return "a block";
            case ast::CallableKind::Network:
              return "a network";
            case ast::CallableKind::Dataset:
              return "a dataset";
          }
          return "a declaration";
        default:
          return "a declaration";
      }
    case ValueKind::Builtin:
      return "a function";
    case ValueKind::Module:
      return "a module";
    case ValueKind::Instance:
      return "an instance";
    case ValueKind::Tensor:
      return "a tensor";
    case ValueKind::Elem:
      return "an element of a tensor";
  }
  return "a value";
}

namespace {
std::string commaList(const ExprPool& pool, const std::vector<Value>& items) {
  std::string text;
  for (const Value& item : items) text += (text.empty() ? "" : ", ") + print(pool, item);
  return text;
}
}  // namespace

std::string print(const ExprPool& pool, const Value& value) {
  switch (value.kind) {
    case ValueKind::Number:
    case ValueKind::Word:
      return pool.str(value.expr);
    case ValueKind::Bool:
      if (const auto known = pool.constantValue(value.expr)) return known->num != 0 ? "true" : "false";
      return pool.str(value.expr);
    case ValueKind::String:
      return "\"" + value.text() + "\"";
    case ValueKind::DType:
      return std::string(kDTypeNames[value.id]);
    case ValueKind::List:
      return "[" + commaList(pool, value.items) + "]";
    case ValueKind::Tuple:
      return "(" + commaList(pool, value.items) + ")";
    case ValueKind::Set:
      return "{" + commaList(pool, value.items) + "}";
    case ValueKind::Record:
    case ValueKind::Partial: {
      std::string text;
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        text += (i == 0 ? "" : ", ") + value.words[i] + ": " + print(pool, value.items[i]);
      }
      return value.is(ValueKind::Record) ? "{" + text + "}" : value.decl->name.text + "(" + text + ")";
    }
    case ValueKind::Range: {
      std::string text = print(pool, value.items[0]) + (value.inclusive ? " ..= " : " .. ") + print(pool, value.items[1]);
      const auto step = pool.constantValue(value.items[2].expr);
      if (!step || *step != Rational::of(1)) text += " step " + print(pool, value.items[2]);
      return text;
    }
    case ValueKind::Declaration:
      return value.decl->name.text;
    case ValueKind::Module:
      return value.text();
    default:
      return kindName(value);
  }
}

}  // namespace tbem::sema
