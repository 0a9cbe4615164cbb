// Whole files: mapped for reading, written so that a reader sees all of it or what was there before.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tbem::data {

/// A file's bytes, mapped: pages are read when they are touched, so a large file costs what is used of it. A file that somebody
/// cuts off while it is mapped ends the process; files of ours are replaced by renaming, which leaves the mapping as it was,
/// unless they have several hard links.
class MappedFile {
public:
  /// Errors: path, reason, errno; what is no regular file (a folder, a pipe) is refused (runtime/files/Read.h).
  static tl::expected<MappedFile, std::string> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept : start(std::exchange(other.start, nullptr)), size(std::exchange(other.size, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(start, other.start);
    std::swap(size, other.size);
    return *this;
  }
  ~MappedFile();

  std::string_view text() const { return {static_cast<const char*>(start), size}; }
  std::span<const std::uint8_t> bytes() const { return {static_cast<const std::uint8_t*>(start), size}; }

private:
  MappedFile(const void* start, std::size_t size) : start(start), size(size) {}
  const void* start = nullptr;
  std::size_t size = 0;
};

/// Writes the pieces one after the other as the whole of a file, as files::writeFile says (runtime/files/Write.h).
tl::expected<void, std::string> writeFile(const std::string& path, std::span<const std::string_view> pieces);

}  // namespace tbem::data
