// A file of named arrays, .npz, .safetensors or of torch.save: told apart by its first bytes when read, by its name when written
// (.npz and .safetensors).
#pragma once

#include "runtime/data/Npz.h"
#include "runtime/data/Safetensors.h"
#include "runtime/data/TorchFile.h"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

enum class ArrayFormat : std::uint8_t { Npz, Safetensors, Torch };

/// In which a file of this name is written; nothing for another ending.
std::optional<ArrayFormat> arrayFormatOf(std::string_view path);

/// Whether a file begins as those of arrays do, ours or others' (.npz, .npy, .safetensors, what torch.save writes): no program
/// does.
bool beginsLikeArrays(std::string_view bytes);

/// An open file. Arrays of a .safetensors file, and of torch.save's those without strides, are views into the mapped file, others
/// are in memory.
class ArrayFile {
public:
  /// Errors are complete: path, what is wrong.
  static tl::expected<ArrayFile, std::string> open(const std::string& path);

  ArrayFormat format = ArrayFormat::Npz;
  std::vector<ArrayView> arrays;  ///< in the file's order
  Metadata metadata;              ///< of a .safetensors file; of one of torch.save what is not read

private:
  explicit ArrayFile(MappedFile file) : mapped(std::move(file)) {}
  MappedFile mapped;
  std::vector<Array> owned;
  std::deque<std::string> unpacked;
};

/// Writes the arrays in the format of the name's ending; `metadata` only where the format has a place for it.
tl::expected<void, std::string> writeArrayFile(const std::string& path, std::vector<Array> arrays, const Metadata& metadata);

}  // namespace tbem::data
