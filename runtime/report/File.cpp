// Files that are there whole or not at all.
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tbem::report {
namespace {

std::string cannot(const std::string& path, int reason) {
  const char* wayOut = reason == ENOSPC || reason == EDQUOT || reason == EFBIG ? "; make room and run the same command again"
                       : reason == EACCES || reason == EROFS || reason == EPERM
                           ? "; give a folder that may be written to with --out"
                           : "";
  return fmt::format("cannot write {}: {}{}", path, std::strerror(reason), wayOut);
}

/// 0, or errno.
int writeAll(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    done += static_cast<std::size_t>(wrote);
  }
  return ::fsync(fd) != 0 ? errno : 0;
}

/// A rename is on the disk when its folder is.
void flushFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

tl::expected<void, std::string> writeAtomically(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) return tl::unexpected(cannot(folder.string(), failed.value()));
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return tl::unexpected(cannot(path, errno));
  const mode_t mask = ::umask(0);  // mkostemp gives 0600; the file is to have what open would have given it
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
  int reason = writeAll(fd, text);
  if (::close(fd) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    ::unlink(temporary.c_str());
    return tl::unexpected(cannot(path, reason));
  }
  flushFolder(folder.empty() ? "." : folder.string());
  return {};
}

}  // namespace tbem::report
