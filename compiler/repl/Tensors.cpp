#include "compiler/repl/Tensors.h"

#include "runtime/core/Layout.h"
#include "runtime/include/tbem/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tbem::repl {

namespace {

Statistics statisticsOf(const std::vector<double>& numbers) {
  Statistics all;
  all.count = numbers.size();
  bool any = false;
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      ++all.notFinite;
      continue;
    }
    all.sum += number;
    all.least = any ? std::min(all.least, number) : number;
    all.most = any ? std::max(all.most, number) : number;
    any = true;
  }
  const auto finite = static_cast<double>(all.count - all.notFinite);
  if (!any) return all;
  all.mean = all.sum / finite;
  double squares = 0;
  for (const double number : numbers) {
    if (std::isfinite(number)) squares += (number - all.mean) * (number - all.mean);
  }
  all.deviation = std::sqrt(squares / finite);
  return all;
}

/// As a parameter is declared that takes a tensor of this element type.
std::string declaredType(const data::ElementType& type) {
  if (type.runtime == TBEM_F32 || type.runtime == TBEM_F64) return "tensor";
  return std::string(sema::kDTypeNames.at(static_cast<std::size_t>(type.runtime)));
}

}  // namespace

std::vector<double> Tensor::numbers() const {
  std::vector<double> numbers(static_cast<std::size_t>(array.elements()));
  const data::ElementType* type = data::findElementType(array.dtype);
  runtime::toDoubles(type->runtime, array.bytes.data(), numbers);
  return numbers;
}

const Tensor* Tensors::find(std::string_view name) const {
  const auto known = tensors.find(name);
  return known == tensors.end() ? nullptr : &known->second;
}

tl::expected<void, std::string> Tensors::put(const std::string& name, data::Array array) {
  const data::ElementType* type = data::findElementType(array.dtype);
  if (type == nullptr || type->runtime < 0)
    return tl::unexpected(fmt::format("`{}` has elements of type {}, with which nothing here computes", name, array.dtype));
  Tensor tensor;
  tensor.type = {declaredType(*type), array.shape};
  tensor.array = std::move(array);
  tensor.statistics = statisticsOf(tensor.numbers());
  tensors.insert_or_assign(name, std::move(tensor));
  return {};
}

bool Tensors::remove(std::string_view name) {
  const auto known = tensors.find(name);
  if (known == tensors.end()) return false;
  tensors.erase(known);
  return true;
}

sema::Value Tensors::record(const Tensor& tensor, sema::ExprPool& pool) const {
  sema::Value record = sema::Value::ofKind(sema::ValueKind::Record);
  const auto add = [&](const char* name, sema::Value value) {
    record.words.push_back(std::string(name));
    record.items.push_back(std::move(value));
  };
  const auto real = [&](double value) {
    // As a decimal, since the fraction that a double is has some thirty digits.
    std::optional<Rational> number = Rational::parse(fmt::format("{:.15g}", std::abs(value)));
    if (number && value < 0) number = sub(Rational::of(0), *number);
    if (!number) number = Rational::fromDouble(value);
    return number ? sema::Value::number(pool.constant(*number)) : sema::Value::string(fmt::format("{}", value));
  };
  std::vector<sema::Value> shape;
  for (const std::int64_t dim : tensor.type.shape) shape.push_back(sema::Value::number(pool.constant(dim)));
  const Statistics& numbers = tensor.statistics;
  add("shape", sema::Value::list(std::move(shape)));
  add("size", sema::Value::number(pool.constant(static_cast<std::int64_t>(numbers.count))));
  add("mean", real(numbers.mean));
  add("deviation", real(numbers.deviation));
  add("min", real(numbers.least));
  add("max", real(numbers.most));
  add("sum", real(numbers.sum));
  return record;
}

}  // namespace tbem::repl
