#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>

namespace tbem::data {

namespace {

constexpr std::string_view kNpy("\x93NUMPY", 6);

/// The length of its header as 64 bits, then JSON, where a ZIP archive has its compression method, 0 or 8.
bool isSafetensors(std::string_view text) { return text.size() > 8 && text[8] == '{'; }

}  // namespace

std::optional<ArrayFormat> arrayFormatOf(std::string_view path) {
  if (path.ends_with(".npz")) return ArrayFormat::Npz;
  if (path.ends_with(".safetensors")) return ArrayFormat::Safetensors;
  return std::nullopt;
}

bool beginsLikeArrays(std::string_view bytes) {
  const bool length = bytes.size() > 8 && bytes[7] == '\0';
  return (length && isSafetensors(bytes)) || bytes.starts_with("PK\x03\x04") || bytes.starts_with('\x80') ||
         bytes.starts_with(kNpy);
}

tl::expected<ArrayFile, std::string> ArrayFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return tl::unexpected(mapped.error());
  ArrayFile file(std::move(*mapped));
  const std::string_view text = file.mapped.text();
  const bool header = isSafetensors(text);
  if (!header && isPickled(text)) {
    auto arrays = parseTorchFile(text);
    if (!arrays) return tl::unexpected(fmt::format("{}: {}", path, arrays.error()));
    file.format = ArrayFormat::Torch;
    file.arrays = std::move(arrays->arrays);
    file.unpacked = std::move(arrays->unpacked);
    file.metadata = std::move(arrays->metadata);
    return file;
  }
  if (!header && text.starts_with("PK")) {
    auto arrays = parseNpz(text);
    if (!arrays) return tl::unexpected(fmt::format("{}: {}", path, arrays.error()));
    file.owned = std::move(*arrays);
    file.arrays.assign(file.owned.begin(), file.owned.end());
    return file;
  }
  if (!header && text.starts_with(kNpy))
    return tl::unexpected(fmt::format("{}: it is one array without a name: `numpy.savez` writes arrays with names", path));
  if (!header)
    return tl::unexpected(fmt::format("{}: it is neither a .npz archive nor a .safetensors file, nor one of torch.save", path));
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
