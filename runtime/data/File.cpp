#include "runtime/data/File.h"

#include "runtime/files/Write.h"

#include <sys/mman.h>

namespace tbem::data {

tl::expected<MappedFile, std::string> MappedFile::open(const std::string& path) {
  const auto file = files::OpenFile::open(path);
  if (!file) return tl::unexpected(file.error().message);
  const std::uint64_t size = file->size();
  if (size == 0) return MappedFile(nullptr, 0);
  const void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (start == MAP_FAILED) return tl::unexpected(files::failureOf("map", path).message);
  return MappedFile(start, size);
}

MappedFile::~MappedFile() {
  if (start != nullptr) munmap(const_cast<void*>(start), size);
}

tl::expected<void, std::string> writeFile(const std::string& path, std::span<const std::string_view> pieces) {
  auto written = files::writeFile(path, pieces);
  if (!written) return tl::unexpected(std::move(written.error().message));
  return {};
}

}  // namespace tbem::data
