// A call of the standard library, as what writes it for PyTorch reads it: parameters and shapes of one row. Internal to
// compiler/emit/pytorch.
#pragma once

#include "compiler/emit/python/Code.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <string>
#include <string_view>
#include <vector>

namespace tbem::emit {

/// The call's parameter of this name; nullptr: it has none.
const sema::Value* parameterOf(const graph::Call& call, std::string_view name);

class CallReader {
public:
  CallReader(const graph::Row& row, const graph::Call& call, Scribe& scribe) : row(row), call(call), scribe(scribe) {}

  std::int64_t integer(std::string_view parameter) const { return number(value(parameter)).num; }
  bool flag(std::string_view parameter) const { return integer(parameter) != 0; }
  Rational real(std::string_view parameter) const { return number(value(parameter)); }
  std::vector<std::int64_t> integers(std::string_view parameter) const {
    std::vector<std::int64_t> numbers;
    for (const sema::Value& item : value(parameter).items) numbers.push_back(number(item).num);
    return numbers;
  }
  /// Of a parameter that is one number for all dimensions, or one a dimension.
  std::vector<std::int64_t> several(std::string_view parameter) const {
    return value(parameter).items.empty() ? std::vector<std::int64_t>{integer(parameter)} : integers(parameter);
  }
  std::string_view text(std::string_view parameter) const { return value(parameter).text(); }

  graph::TensorId tensor(std::size_t position) const { return tensorsOf(call.tensors[position]).front(); }
  std::vector<std::int64_t> shape(std::size_t position) const { return row.shape(tensor(position)); }
  std::vector<std::int64_t> resultShape() const { return row.shape(tensorsOf(call.result).front()); }
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

}  // namespace tbem::emit
