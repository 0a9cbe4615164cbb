// Native code that computes expressions over a design's symbols for many rows at a time.
//
// Rows are computed side by side in vectors of doubles. A double holds every whole number up to 2^53. A row with a number that is
// not computed exactly is uncertain, and exact arithmetic (sema::ExprPool::evaluate) answers for it: operations on whole numbers
// are watched by the size of their result, those on fractions by their rounding error, which is itself a double (Dekker 1971;
// Ogita, Rump and Oishi 2005, algorithms 3.1 and 3.5: TwoSum, TwoProduct). A division by zero makes a row uncertain even where
// its result is not used.
#pragma once

#include "compiler/jit/glue/Jit.h"
#include "compiler/sema/Symbolic.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tbem::jit {

/// What a kernel found. Values of one row lie together.
struct RowValues {
  std::size_t roots = 0;
  std::vector<double> values;  ///< [row][root]
  std::vector<bool> certain;   ///< by row: every root is the exact value
  std::span<const double> row(std::size_t row) const { return {values.data() + row * roots, roots}; }
};

class RowKernel {
public:
  RowKernel(RowKernel&&) noexcept;
  RowKernel& operator=(RowKernel&&) noexcept;
  ~RowKernel();

  /// `levels`: [row][symbol], a NaN where a level is no double. Calls may run at the same time.
  RowValues evaluate(std::span<const double> levels) const;
  std::size_t symbols() const;

private:
  friend tl::expected<RowKernel, Error> compileRows(const sema::ExprPool& pool, std::span<const sema::ExprId> roots);
  struct Code;
  explicit RowKernel(std::unique_ptr<Code> code);
  std::unique_ptr<Code> code;
};

/// An error that is no bug: this machine has no code generator, or an expression has no such code: it depends on the step's
/// number, holds a constant that no double is equal to, takes a remainder of fractions or a power that is not a small constant.
tl::expected<RowKernel, Error> compileRows(const sema::ExprPool& pool, std::span<const sema::ExprId> roots);

}  // namespace tbem::jit
