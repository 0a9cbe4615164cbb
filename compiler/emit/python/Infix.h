// Operators of the standard library that Python's infix operators are, on tensors of any framework.
#pragma once

#include "compiler/emit/python/Reader.h"

#include <functional>
#include <string_view>

namespace tbem::emit {

/// An infix operator on two tensors, or on a tensor and a number: the number's parameter, and on which side it stands.
struct Infix {
  std::string_view word, sign;
  Binding binding;
  const char* number = nullptr;
  bool numberFirst = false;
};
/// nullptr: the operator of this name is none.
const Infix* infixOf(std::string_view word);
/// The expression; `operand` writes the call's operand at a position.
Code infixCode(const CallReader& call, const Infix& row,
               const std::function<Marked(std::size_t position, Binding least)>& operand);

}  // namespace tbem::emit
