#include "runtime/files/Read.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace tbem::files {

namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

Failure refusal(const std::string& path, const std::string& why) { return {fmt::format("cannot read {}: {}", path, why), 0}; }

std::string sizeText(std::uint64_t bytes) {
  return bytes % kMebibyte == 0 ? fmt::format("{} MiB", bytes / kMebibyte) : fmt::format("{} bytes", bytes);
}

/// What a file is that is no regular one.
const char* kindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe, not a regular file";
  if (S_ISSOCK(mode)) return "a socket, not a regular file";
  return "a device, not a regular file";
}

}  // namespace

Failure failureOf(const char* what, const std::string& path) {
  const int code = errno;
  return {fmt::format("cannot {} {}: {} (errno {})", what, path, std::strerror(code), code), code};
}

OpenFile::OpenFile(OpenFile&& other) noexcept : file(std::exchange(other.file, -1)), path(std::move(other.path)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(file, other.file);
  std::swap(path, other.path);
  return *this;
}
OpenFile::~OpenFile() {
  if (file >= 0) ::close(file);
}

tl::expected<OpenFile, Failure> OpenFile::open(const std::string& path, Links links) {
  // Not blocking: to open a pipe that nobody writes to would wait for ever.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == Links::Refused ? O_NOFOLLOW : 0);
  OpenFile opened(::open(path.c_str(), flags), path);
  if (opened.file < 0) return tl::unexpected(failureOf("read", path));
  struct stat status {};
  if (::fstat(opened.file, &status) != 0) return tl::unexpected(failureOf("read", path));
  if (!S_ISREG(status.st_mode)) return tl::unexpected(refusal(path, fmt::format("it is {}", kindOf(status.st_mode))));
  return opened;
}

std::uint64_t OpenFile::size() const {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

tl::expected<std::string, Failure> OpenFile::read(std::uint64_t most) const {
  // The size is a hint: a pipe has none, and files of /proc say 0.
  std::string text(std::min(std::max<std::uint64_t>(size(), 4096), most) + 1, '\0');
  std::size_t used = 0;
  while (true) {
    if (used == text.size()) text.resize(std::min<std::uint64_t>(2 * text.size(), most + 1));
    const ssize_t got = ::read(file, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(failureOf("read", path));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > most) return tl::unexpected(refusal(path, fmt::format("it has more than {}", sizeText(most))));
  }
  text.resize(used);
  return text;
}

tl::expected<std::string, Failure> readFile(const std::string& path, std::uint64_t most) {
  const auto file = OpenFile::open(path);
  return file ? file->read(most) : tl::make_unexpected(file.error());
}

bool isInherited(const std::string& path) {
  const std::string_view text = path;
  return text == "-" || text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/");
}

tl::expected<std::string, Failure> readText(const std::string& path, std::uint64_t most) {
  if (!isInherited(path)) return readFile(path, most);
  // What it names is open already, so to open it again does not wait for anybody.
  const bool input = path == "-";
  OpenFile opened(input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY),
                  input ? "standard input" : path);
  if (opened.file < 0) return tl::unexpected(failureOf("read", opened.path));
  return opened.read(most);
}

}  // namespace tbem::files
