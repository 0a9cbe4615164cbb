// How persistent storages and inputs are filled before the first step: in logical row-major order, so that weights do not depend
// on layouts, element by element from Philox keyed by (seed, hash of the path), so that they do not depend on each other.
#pragma once

#include "tbem/executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tbem::runtime {

/// FNV-1a, 64 bits: the random stream of a path.
std::uint64_t pathHash(std::string_view path);

/// fan_in: product of all dimensions but the first; fan_out: first dimension times the product of those after the second.
/// An empty product is 1.
struct Fans {
  double in = 1, out = 1;
};
Fans fans(std::span<const std::int64_t> dims);

/// Whether the rule gives all elements one value.
bool isConstant(const InitDesc& init);

/// Fills `values`, elements first, first + 1, .. in row-major order of a tensor of `dims`, by the rule `init.kind` (graph::Init
/// lists them): computed in double, to be rounded once. An error names a kind that does not exist or numbers that make no
/// distribution.
tl::expected<void, std::string> fillInit(const InitDesc& init, std::span<const std::int64_t> dims, std::uint64_t seed,
                                         std::string_view path, std::span<double> values, std::uint64_t first = 0);

/// Stand-in data of an input: floating ones standard normal; integer ones uniform in [0, bound), 0 < bound < 2^32; bool ones
/// uniform in {0, 1}. The error of another bound says what would give one, and how to give values instead.
tl::expected<void, std::string> fillInput(std::int32_t dtype, std::int64_t bound, std::uint64_t seed, std::string_view path,
                                          std::span<double> values, std::uint64_t first = 0);

}  // namespace tbem::runtime
