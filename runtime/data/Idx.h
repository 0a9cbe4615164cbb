// The IDX format of MNIST and its kin (yann.lecun.com/exdb/mnist, "FILE FORMATS FOR THE MNIST DATABASE"): two zero bytes, the
// element type, the number of dimensions, each dimension in 4 bytes (big-endian), then the elements. Unsigned bytes are read.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// The dimensions of an IDX file, plain or gzip-compressed, from its first bytes.
tl::expected<std::vector<std::int64_t>, std::string> parseIdxShape(std::string_view file);
/// All of it; the length is checked against the header before memory is taken for it.
tl::expected<IdxArray, std::string> parseIdx(std::string_view file);

}  // namespace tbem::data
