#include "runtime/files/Write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>

namespace tbem::files {

namespace {

using Pieces = std::span<const std::string_view>;

/// A descriptor for writing; closed with this object.
class Output {
public:
  Output(std::string path, int flags, mode_t mode) : path(std::move(path)), file(::open(this->path.c_str(), flags, mode)) {}
  ~Output() {
    if (file >= 0) ::close(file);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool isOpen() const { return file >= 0; }
  int descriptor() const { return file; }

  /// False: errno says why.
  bool write(Pieces pieces) {
    for (std::string_view piece : pieces) {
      while (!piece.empty()) {
        const ssize_t wrote = ::write(file, piece.data(), piece.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        piece.remove_prefix(static_cast<std::size_t>(wrote));
      }
    }
    return ::fsync(file) == 0;
  }
  bool close() { return ::close(std::exchange(file, -1)) == 0; }

private:
  std::string path;
  int file;
};

/// Removes the file when it goes out of scope, unless it was kept.
class Temporary {
public:
  explicit Temporary(std::string path) : path(std::move(path)) {}
  ~Temporary() {
    if (!kept) ::unlink(path.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& keep() {
    kept = true;
    return path;
  }

private:
  std::string path;
  bool kept = false;
};

std::uint64_t sizeOf(Pieces pieces) {
  std::uint64_t bytes = 0;
  for (const std::string_view piece : pieces) bytes += piece.size();
  return bytes;
}

Failure cannotWrite(const std::string& path) {
  Failure failure = failureOf("write", path);
  if (failure.code == ENOSPC || failure.code == EDQUOT || failure.code == EFBIG)
    failure.message += "; make room and run the same command again";
  return failure;
}

/// Where a chain of symbolic links ends; the file need not be there.
std::string targetOf(const std::string& path) {
  std::error_code error;
  std::filesystem::path at = path;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(std::filesystem::symlink_status(at, error)); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;  // `next` where it is absolute
  }
  return at.string();
}

/// A rename is on the disk when its folder is.
void flushFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

/// Gives a new file the owner and the mode of the former. False where that cannot be done.
bool becomeLike(int file, const struct stat& former) {
  struct stat now {};
  if (::fstat(file, &now) != 0) return false;
  const bool sameOwner = now.st_uid == former.st_uid && now.st_gid == former.st_gid;
  if (!sameOwner && ::fchown(file, former.st_uid, former.st_gid) != 0) return false;
  return ::fchmod(file, former.st_mode & 07777U) == 0;
}

/// Whether a name that points to another file than before would lose something.
bool isMoreThanItsName(const std::string& path, const struct stat& former) {
  return former.st_nlink > 1 || ::listxattr(path.c_str(), nullptr, 0) > 0;
}

/// The former file, with the new text. `whole`, if there is one, has the new text too, and stays where the former is damaged.
tl::expected<void, Failure> overwrite(const std::string& path, Pieces pieces, Temporary* whole) {
  Output out(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0);
  if (!out.isOpen()) return tl::unexpected(cannotWrite(path));
  const auto size = static_cast<off_t>(sizeOf(pieces));
  if (const int reason = size == 0 ? 0 : ::posix_fallocate(out.descriptor(), 0, size); reason != 0) {
    errno = reason;
    return tl::unexpected(cannotWrite(path));
  }
  if (out.write(pieces) && ::ftruncate(out.descriptor(), size) == 0 && ::fsync(out.descriptor()) == 0) return {};
  Failure failure = cannotWrite(path);
  failure.message += "; it is damaged now";
  if (whole != nullptr) failure.message += ", and its new text is in " + whole->keep();
  return tl::unexpected(std::move(failure));
}

/// Unlike the process's own number, the time tells what a killed process left from the files of one of the same number.
std::string temporaryName(const std::string& path) {
  return fmt::format("{}.{}-{:x}.part", path, ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Gives `from` the name `to`, which must be free. False: errno says why.
bool renameToFree(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  struct stat there {};  // a file system that cannot do both at once
  if (::lstat(to.c_str(), &there) == 0) {
    errno = EEXIST;
    return false;
  }
  return ::rename(from.c_str(), to.c_str()) == 0;
}

/// Who may read it may run it. False: errno says why.
bool makeRunnable(const std::string& path) {
  struct stat now {};
  return ::stat(path.c_str(), &now) == 0 && ::chmod(path.c_str(), (now.st_mode | ((now.st_mode & 0444U) >> 2U)) & 07777U) == 0;
}

/// Nothing, or why: `shown` is the folder that it will be.
std::optional<Failure> fillFolder(const std::string& folder, std::span<const NewFile> files, const std::string& shown) {
  for (const NewFile& file : files) {
    const std::string path = folder + "/" + file.path;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    int code = error.value();
    if (code == 0) {
      const auto written = writeFile(path, file.text);
      code = written ? 0 : written.error().code;
      if (written && file.runs && !makeRunnable(path)) code = errno;
    }
    if (code == 0) continue;
    errno = code;
    return cannotWrite(shown + "/" + file.path);
  }
  return {};
}

}  // namespace

tl::expected<void, Failure> writeFile(const std::string& given, Pieces pieces) {
  const std::string path = targetOf(given);
  std::optional<struct stat> former(std::in_place);
  if (::stat(path.c_str(), &*former) != 0) former.reset();
  if (former && !S_ISREG(former->st_mode))
    return tl::unexpected(Failure{fmt::format("cannot write {}: it is no regular file", given), 0});
  if (former && ::access(path.c_str(), W_OK) != 0) return tl::unexpected(cannotWrite(given));  // a rename would not ask
  const std::string temporary = temporaryName(path);
  Output out(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, former ? 0600 : 0666);
  if (!out.isOpen()) {
    if (former && (errno == EACCES || errno == EROFS || errno == EPERM)) return overwrite(path, pieces, nullptr);
    return tl::unexpected(cannotWrite(given));
  }
  Temporary whole(temporary);
  if (!out.write(pieces)) return tl::unexpected(cannotWrite(given));
  if (former && (isMoreThanItsName(path, *former) || !becomeLike(out.descriptor(), *former)))
    return overwrite(path, pieces, &whole);
  if (!out.close()) return tl::unexpected(cannotWrite(given));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return tl::unexpected(cannotWrite(given));
  whole.keep();
  flushFolder(path);
  return {};
}

tl::expected<void, Failure> writeFile(const std::string& path, std::string_view text) {
  return writeFile(path, Pieces(&text, 1));
}

tl::expected<void, Failure> writeFolder(const std::string& path, std::span<const NewFile> files) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) {
    errno = EEXIST;
    return tl::unexpected(cannotWrite(path));
  }
  const std::string temporary = temporaryName(path);
  if (::mkdir(temporary.c_str(), 0777) != 0) return tl::unexpected(cannotWrite(path));
  std::optional<Failure> failure = fillFolder(temporary, files, path);
  if (!failure && !renameToFree(temporary, path)) failure = cannotWrite(path);
  if (failure) {
    std::error_code ignored;
    std::filesystem::remove_all(temporary, ignored);
    return tl::unexpected(*failure);
  }
  flushFolder(path);
  return {};
}

}  // namespace tbem::files
