// A call of the standard library, as what writes it for a framework reads it: parameters and shapes of one row; and the pieces of
// code that are written for one.
#pragma once

#include "compiler/emit/python/Code.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::emit {

using Numbers = std::vector<std::int64_t>;

/// One number for all dimensions where they agree: 3 for (3, 3).
std::string evenText(const Numbers& numbers);
Code functionCode(std::string callee, std::vector<Argument> arguments);
Code expressionCode(Marked text, Binding binding);
/// A module with weights and its call.
Code moduleCode(CallText constructor, Marked operand);
/// Elements of a tensor of this shape, one number a dimension. Bounds are no parameters: Black writes those that are not numbers
/// in another way.
Code sliceCode(const Marked& operand, const Numbers& start, const Numbers& size, const Numbers& stride, const Numbers& shape);
/// The standard deviation that an initialiser without numbers of its own ("he_normal", "xavier_uniform", "torch_uniform") gives a
/// weight of this shape. A vector's fan_in is 1, its fan_out its length (Init in Graph.h).
double deviationOf(std::string_view init, const Numbers& shape);
/// Padding [top, left, bottom, right] of an image that is the same on both sides.
bool isSymmetric(const Numbers& pad);
bool isZero(const Numbers& numbers);
/// A value as the text that it has in Python, to find the parameter of a declaration that a number comes from.
std::string valueText(const graph::Row& row, const sema::Value& value);

/// The row of a table whose `word` is this; nullptr: it has none.
template <class Table>
auto rowOf(const Table& table, std::string_view word) -> decltype(&*std::begin(table)) {
  const auto row = std::find_if(std::begin(table), std::end(table), [&](const auto& one) { return one.word == word; });
  return row == std::end(table) ? nullptr : &*row;
}

/// The call's parameter of this name; nullptr: it has none.
const sema::Value* parameterOf(const graph::Call& call, std::string_view name);

class CallReader {
public:
  CallReader(const graph::Row& row, const graph::Call& call, Scribe& scribe) : row(row), call(call), scribe(scribe) {}

  std::int64_t integer(std::string_view parameter) const { return number(value(parameter)).num; }
  bool flag(std::string_view parameter) const { return integer(parameter) != 0; }
  Rational real(std::string_view parameter) const { return number(value(parameter)); }
  Numbers integers(std::string_view parameter) const {
    Numbers numbers;
    for (const sema::Value& item : value(parameter).items) numbers.push_back(number(item).num);
    return numbers;
  }
  /// Of a parameter that is one number for all dimensions, or one a dimension.
  Numbers several(std::string_view parameter) const {
    return value(parameter).items.empty() ? Numbers{integer(parameter)} : integers(parameter);
  }
  std::string_view text(std::string_view parameter) const { return value(parameter).text(); }

  graph::TensorId tensor(std::size_t position) const { return tensorsOf(call.tensors[position]).front(); }
  Numbers shape(std::size_t position) const { return row.shape(tensor(position)); }
  Numbers resultShape() const { return row.shape(tensorsOf(call.result).front()); }
  tbem_dtype resultType() const { return row.graph()[tensorsOf(call.result).front()].dtype; }
  Marked operand(std::size_t position, Binding least = Binding::Any) const { return Scribe::operand(tensor(position), least); }

  Marked hole(std::string name, std::string text) const { return scribe.hole(std::move(name), std::move(text)); }
  Marked hole(std::string name, std::int64_t number) const { return hole(std::move(name), pythonText(number)); }
  Marked realHole(std::string_view parameter) const { return hole(std::string(parameter), pythonReal(real(parameter))); }

  const graph::Row& row;
  const graph::Call& call;

private:
  const sema::Value& value(std::string_view parameter) const;
  Rational number(const sema::Value& value) const { return row.values[value.expr]; }

  Scribe& scribe;
};

/// Whether the frameworks of Python have no such call, though they have the operator: a reduction over no axis (none are all
/// there), a split into one part, a padding between elements.
bool isNowhere(const CallReader& call);

}  // namespace tbem::emit
