#include "runtime/data/Npz.h"

#include "runtime/data/File.h"
#include "runtime/data/Zip.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;

constexpr std::string_view kSuffix = ".npy";

}  // namespace

tl::expected<void, std::string> writeNpz(const std::string& path, const std::vector<Array>& arrays) {
  std::vector<ZipMember> members;
  for (const Array& array : arrays) members.push_back({array.name + std::string(kSuffix), toNpy(array)});
  return writeZip(path, std::move(members));
}

tl::expected<std::vector<Array>, std::string> parseNpz(std::string_view bytes) {
  const auto entries = zipDirectory(bytes);
  if (!entries) return Failure(entries.error());
  std::vector<Array> arrays;
  for (const ZipEntry& entry : *entries) {
    if (entry.name.size() <= kSuffix.size() || !entry.name.ends_with(kSuffix))
      return Failure(fmt::format("`{}` is no .npy array", entry.name));
    std::string unpacked;
    const auto text = zipContent(bytes, entry, unpacked);
    if (!text) return Failure(fmt::format("`{}`: {}", entry.name, text.error()));
    auto array = parseNpy(*text, entry.name.substr(0, entry.name.size() - kSuffix.size()));
    if (!array) return Failure(fmt::format("`{}`: {}", entry.name, array.error()));
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

tl::expected<std::vector<Array>, std::string> readNpz(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return Failure(file.error());
  auto arrays = parseNpz(file->text());
  if (!arrays) return Failure(fmt::format("{}: {}", path, arrays.error()));
  return arrays;
}

}  // namespace tbem::data
