// NumPy's array files: .npy (format 1.0 to 3.0) inside a .npz, which is a ZIP archive. Nothing is ever unpickled: arrays of
// objects are refused.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// An array in row-major order. Element types: "f8", "f4", "i8", "i4", "u1", "b1" (little-endian).
struct Array {
  std::string name;  ///< without ".npy"
  std::string dtype;
  std::vector<std::int64_t> shape;  ///< empty: a scalar
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const;
};

std::size_t elementBytes(std::string_view dtype);  ///< 0 for a type that is not listed above

/// The .npy text of an array (format 1.0).
std::string toNpy(const Array& array);
/// Parses .npy bytes. Column-major arrays are turned into row-major ones. Errors: what is wrong with the file.
tl::expected<Array, std::string> parseNpy(std::string_view bytes, std::string name);

/// Writes arrays, uncompressed, in this order: a temporary file beside it, then renamed. Errors: path, reason, way out.
tl::expected<void, std::string> writeNpz(const std::string& path, const std::vector<Array>& arrays);
/// Reads all arrays, stored or deflated, in the archive's order; CRCs are checked. Errors as above.
tl::expected<std::vector<Array>, std::string> readNpz(const std::string& path);
/// The same from the archive's bytes.
tl::expected<std::vector<Array>, std::string> parseNpz(std::string_view bytes);

}  // namespace tbem::data
