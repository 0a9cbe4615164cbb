// Sums of matrix products (SumShape.h), prepared and run.
#pragma once

#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Blas.h"
#include "runtime/backends/cuda/libraries/SumShape.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tbem::cuda {

/// Bytes of the workspace, exact.
std::uint64_t sumWorkspace(const SumShape& shape);

class PreparedSum {
public:
  /// The device is open on this thread. Errors, in words.
  static tl::expected<PreparedSum, std::string> prepare(const SumShape& shape);
  /// Puts it behind what the device was asked before.
  tbem_status run(const void* a, const void* b, void* y, void* work);

private:
  PreparedSum(SumShape shape, PreparedProduct each) : shape(std::move(shape)), each(std::move(each)) {}

  SumShape shape;
  PreparedProduct each;
  std::optional<PreparedProduct> rest;
  std::unique_ptr<Op> join;  ///< of the parts; none where the only one is the result
};

}  // namespace tbem::cuda
