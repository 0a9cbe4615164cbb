// Tensors that entries have named: their numbers, and what is said of them.
#pragma once

#include "compiler/repl/RuntimeCall.h"
#include "compiler/sema/Value.h"
#include "runtime/data/Array.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::repl {

/// Of the numbers of a tensor that are finite; with none, `mean` and what follows it are 0.
struct Statistics {
  std::size_t count = 0;      ///< of all numbers
  std::size_t notFinite = 0;  ///< infinities and NaNs
  double mean = 0, least = 0, most = 0, sum = 0;
  double deviation = 0;  ///< standard deviation of the population
};

struct Tensor {
  data::Array array;
  TensorType type;
  Statistics statistics;

  /// All numbers, row-major.
  std::vector<double> numbers() const;
};

class Tensors {
public:
  const Tensor* find(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& all() const { return tensors; }
  /// Takes the place of a tensor of that name. Errors: an element type with which nothing computes.
  tl::expected<void, std::string> put(const std::string& name, data::Array array);
  bool remove(std::string_view name);
  /// What expressions of elaboration time know of a tensor by its name, a record: shape, size, mean, deviation, min, max, sum.
  sema::Value record(const Tensor& tensor, sema::ExprPool& pool) const;

private:
  std::map<std::string, Tensor, std::less<>> tensors;
};

}  // namespace tbem::repl
