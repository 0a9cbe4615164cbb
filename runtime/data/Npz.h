// NumPy's array files: .npy (format 1.0 to 3.0) inside a .npz, which is a ZIP archive. Arrays of objects, which
// are pickled, are refused.
#pragma once

#include "runtime/data/Array.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// The .npy text of an array (format 1.0).
std::string toNpy(const Array& array);
/// A .npy file's header: its array as a view into `bytes`, in the order that the file has. Errors as below.
struct NpyView {
  ArrayView array;
  bool columnMajor = false;
};
tl::expected<NpyView, std::string> viewNpy(std::string_view bytes, std::string name);
/// Parses .npy bytes. Column-major arrays are turned into row-major ones. Errors: what is wrong with the file.
tl::expected<Array, std::string> parseNpy(std::string_view bytes, std::string name);

/// Writes arrays, uncompressed, in this order: a temporary file beside it, then renamed. Errors: path, reason, way out.
tl::expected<void, std::string> writeNpz(const std::string& path, const std::vector<Array>& arrays);
/// Reads all arrays, stored or deflated, in the archive's order; CRCs are checked. Errors as above.
tl::expected<std::vector<Array>, std::string> readNpz(const std::string& path);
/// The same from the archive's bytes.
tl::expected<std::vector<Array>, std::string> parseNpz(std::string_view bytes);

}  // namespace tbem::data
