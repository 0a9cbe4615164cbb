// Vectors in another element type, for what a library takes or gives in one type alone.
#pragma once

#include "runtime/backends/cuda/device/Op.h"

#include <tl/expected.hpp>

#include <memory>
#include <string>

namespace tbem::cuda {

/// y = x, `count` elements. The device is open on this thread. Errors, in words.
tl::expected<std::unique_ptr<Op>, std::string> conversionOf(std::int32_t from, std::int32_t to, std::int64_t count);

}  // namespace tbem::cuda
