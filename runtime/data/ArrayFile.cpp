#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>

namespace tbem::data {

std::optional<ArrayFormat> arrayFormatOf(std::string_view path) {
  if (path.ends_with(".npz")) return ArrayFormat::Npz;
  if (path.ends_with(".safetensors")) return ArrayFormat::Safetensors;
  return std::nullopt;
}

tl::expected<ArrayFile, std::string> ArrayFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return tl::unexpected(mapped.error());
  ArrayFile file(std::move(*mapped));
  const std::string_view text = file.mapped.text();
  const bool header = text.size() > 8 && text[8] == '{';  // where a ZIP archive has its compression method, 0 or 8
  if (!header && text.starts_with("PK")) {
    auto arrays = parseNpz(text);
    if (!arrays) return tl::unexpected(fmt::format("{}: {}", path, arrays.error()));
    file.owned = std::move(*arrays);
    file.arrays.assign(file.owned.begin(), file.owned.end());
    return file;
  }
  if (!header && text.starts_with('\x80')) return tl::unexpected(fmt::format("{}: {}", path, kPickled));  // opcode PROTO
  if (!header) return tl::unexpected(fmt::format("{}: it is neither a .npz archive nor a .safetensors file", path));
  auto arrays = parseSafetensors(text);
  if (!arrays) return tl::unexpected(fmt::format("{}: {}", path, arrays.error()));
  file.format = ArrayFormat::Safetensors;
  file.arrays = std::move(arrays->arrays);
  file.metadata = std::move(arrays->metadata);
  return file;
}

tl::expected<void, std::string> writeArrayFile(const std::string& path, std::vector<Array> arrays, const Metadata& metadata) {
  const auto format = arrayFormatOf(path);
  if (!format) return tl::unexpected(fmt::format("cannot write {}: its name must end in .npz or .safetensors", path));
  if (*format == ArrayFormat::Safetensors) {
    const std::vector<ArrayView> views(arrays.begin(), arrays.end());
    return writeSafetensors(path, views, metadata);
  }
  for (Array& array : arrays) array = forNumpy(std::move(array));
  return writeNpz(path, arrays);
}

}  // namespace tbem::data
