// What memory is held for: the rows of every table of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tbem::estimate {

enum class Kind : std::uint8_t { Weights, Gradients, Optimizer, Buffers, Activations, Input, Constants, Workspace };
constexpr std::size_t kKinds = 8;

}  // namespace tbem::estimate
