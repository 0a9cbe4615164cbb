#include "runtime/data/File.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tbem::data {

std::string fileFailure(const char* what, const std::string& path) {
  const int code = errno;
  return fmt::format("cannot {} {}: {} (errno {})", what, path, std::strerror(code), code);
}

tl::expected<MappedFile, std::string> MappedFile::open(const std::string& path) {
  // Not blocking: to open a pipe that nobody writes to would wait for ever.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return tl::unexpected(fileFailure("read", path));
  struct stat status {};
  if (fstat(file, &status) != 0) {
    auto failure = fileFailure("read", path);
    close(file);
    return tl::unexpected(std::move(failure));
  }
  if (!S_ISREG(status.st_mode)) {
    close(file);
    return tl::unexpected(
        fmt::format("cannot read {}: it is {}", path, S_ISDIR(status.st_mode) ? "a folder" : "no regular file"));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    close(file);
    return MappedFile(nullptr, 0);
  }
  const void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  auto failure = start == MAP_FAILED ? fileFailure("map", path) : std::string();
  close(file);
  if (!failure.empty()) return tl::unexpected(std::move(failure));
  return MappedFile(start, size);
}

MappedFile::~MappedFile() {
  if (start != nullptr) munmap(const_cast<void*>(start), size);
}

tl::expected<void, std::string> writeFile(const std::string& path, std::span<const std::string_view> pieces) {
  // The process number keeps writers of one path apart.
  const std::string temporary = fmt::format("{}.{}.part", path, getpid());
  const auto fail = [&](const char* what, std::FILE* file) {
    std::string text = fileFailure(what, path);
    if (file != nullptr) std::fclose(file);
    unlink(temporary.c_str());
    return tl::unexpected(std::move(text));
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wbe");
  if (file == nullptr) return fail("write", nullptr);
  for (const std::string_view piece : pieces) {
    if (piece.empty()) continue;  // its address may be null
    if (std::fwrite(piece.data(), 1, piece.size(), file) != piece.size()) return fail("write", file);
  }
  if (std::fflush(file) != 0 || fsync(fileno(file)) != 0) return fail("write", file);
  if (std::fclose(file) != 0) return fail("write", nullptr);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return fail("rename the finished file to", nullptr);
  // The new name itself survives a loss of power only when its folder is on the disk too.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int directory = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  return {};
}

}  // namespace tbem::data
