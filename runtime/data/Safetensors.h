// The safetensors format (github.com/huggingface/safetensors, README "Format"): 8 bytes, the length of a JSON header; the header,
// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}; the arrays' bytes.
//
// Everything is checked before it is used: the header's length against the file, its JSON (nesting, duplicate keys, unknown
// fields), and that the arrays fill the rest of the file without a gap or an overlap. Element types that Array.h does not list
// are refused.
#pragma once

#include "runtime/data/Array.h"
#include "runtime/data/File.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

using Metadata = std::map<std::string, std::string, std::less<>>;

struct Safetensors {
  std::vector<ArrayView> arrays;  ///< in the order of their bytes
  Metadata metadata;
};

/// Views into `file`, which must outlive them. Errors: what is wrong with the file.
tl::expected<Safetensors, std::string> parseSafetensors(std::string_view file);

/// Writes the arrays and metadata as one file, atomically (File.h). Arrays are laid out as the format's own library does: by
/// element type, then by name, so that all are aligned and equal contents are equal files. Errors: a name twice, a name that is
/// no UTF-8, and as of writeFile.
tl::expected<void, std::string> writeSafetensors(const std::string& path, std::span<const ArrayView> arrays,
                                                 const Metadata& metadata = {});
/// The 8 bytes and the header of that file, and the arrays in the order in which their bytes follow.
tl::expected<std::string, std::string> safetensorsHeader(std::vector<ArrayView>& arrays, const Metadata& metadata);

}  // namespace tbem::data
