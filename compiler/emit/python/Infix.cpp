#include "compiler/emit/python/Infix.h"

#include <fmt/format.h>

#include <array>

namespace tbem::emit {

namespace {
constexpr auto kInfix = std::to_array<Infix>({{"add", "+", Binding::Sum},
                                              {"sub", "-", Binding::Sum},
                                              {"mul", "*", Binding::Product},
                                              {"divide", "/", Binding::Product},
                                              {"less", "<", Binding::Compare},
                                              {"less_equal", "<=", Binding::Compare},
                                              {"equal", "==", Binding::Compare},
                                              {"not_equal", "!=", Binding::Compare},
                                              {"logical_and", "&", Binding::BitAnd},
                                              {"logical_or", "|", Binding::BitOr},
                                              {"add_scalar", "+", Binding::Sum, "value"},
                                              {"sub_scalar", "-", Binding::Sum, "value"},
                                              {"scalar_sub", "-", Binding::Sum, "value", true},
                                              {"mul_scalar", "*", Binding::Product, "value"},
                                              {"div_scalar", "/", Binding::Product, "value"},
                                              {"scalar_div", "/", Binding::Product, "value", true},
                                              {"pow", "**", Binding::Power, "exponent"},
                                              {"less_scalar", "<", Binding::Compare, "value"},
                                              {"less_equal_scalar", "<=", Binding::Compare, "value"},
                                              {"greater_scalar", ">", Binding::Compare, "value"},
                                              {"greater_equal_scalar", ">=", Binding::Compare, "value"},
                                              {"equal_scalar", "==", Binding::Compare, "value"},
                                              {"not_equal_scalar", "!=", Binding::Compare, "value"}});

}  // namespace

const Infix* infixOf(std::string_view word) { return rowOf(kInfix, word); }

Code infixCode(const CallReader& call, const Infix& row,
               const std::function<Marked(std::size_t position, Binding least)>& operand) {
  const auto [left, right] = sidesOf(row.binding);
  if (row.number == nullptr)
    return expressionCode(fmt::format("{} {} {}", operand(0, left), row.sign, operand(1, right)), row.binding);
  const Rational value = call.real(row.number);
  const bool isWhole = value.isInt() && value.num >= 0;
  const std::string text = isWhole ? pythonText(value.num) : pythonReal(value);
  const Marked number = call.hole(row.number, text.starts_with('-') ? "(" + text + ")" : text);
  return expressionCode(row.numberFirst ? fmt::format("{} {} {}", number, row.sign, operand(0, right))
                                        : fmt::format("{} {} {}", operand(0, left), row.sign, number),
                        row.binding);
}

}  // namespace tbem::emit
