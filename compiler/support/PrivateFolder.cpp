#include "compiler/support/PrivateFolder.h"

#include "runtime/files/Read.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace tbem {

std::string whyNotPrivate(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
    return fmt::format("{} is neither a folder nor a regular file: remove it", path);
  // What root owns is not safer elsewhere.
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("{} belongs to another user: remove it, or set XDG_CACHE_HOME to a folder of your own", path);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("others can write {}: delete it, or look at it and run `chmod -R go-w {}`", path, path);
  return {};
}

tl::expected<std::optional<std::string>, std::string> readPrivate(const std::string& root, const std::string& path,
                                                                  std::uint64_t most) {
  std::error_code absent;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, absent))) return std::nullopt;
  std::filesystem::path part = root;
  for (const std::filesystem::path& name : std::filesystem::path(path).lexically_relative(root)) {
    if (std::string why = whyNotPrivate(part.string()); !why.empty()) return tl::unexpected(std::move(why));
    part /= name;
  }
  if (std::string why = whyNotPrivate(path); !why.empty()) return tl::unexpected(std::move(why));
  const auto file = files::OpenFile::open(path, files::OpenFile::Links::Refused);
  auto text = file ? file->read(most) : tl::make_unexpected(file.error());
  if (!text) return tl::unexpected(text.error().message);
  return std::move(*text);
}

std::string makePrivateFolder(const std::string& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    made /= part;
    if (::mkdir(made.c_str(), S_IRWXU) == 0 || errno == EEXIST) continue;
    // Some systems answer for a folder that is there and cannot be written with another error than EEXIST.
    std::error_code error;
    const int reason = errno;
    if (!std::filesystem::is_directory(made, error)) return fmt::format("{}: {}", made.string(), std::strerror(reason));
  }
  return whyNotPrivate(path);
}

std::string writePrivate(const std::string& root, const std::string& path, std::string_view bytes) {
  for (const std::string& folder : {root, std::filesystem::path(path).parent_path().string()}) {
    if (std::string problem = makePrivateFolder(folder); !problem.empty()) return problem;
  }
  // The process number keeps writers of one path apart; the last rename wins.
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      const std::string reason = std::strerror(errno);
      std::remove(temporary.c_str());
      return fmt::format("{}: {}", temporary, reason);
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::remove(temporary.c_str());
    return fmt::format("{}: {}", path, error.message());
  }
  return {};
}

TemporaryFolder::TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : folder(std::exchange(other.folder, {})) {}
TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(folder, other.folder);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

tl::expected<TemporaryFolder, std::string> TemporaryFolder::make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return tl::make_unexpected(fmt::format("there is no temporary directory: {}", error.message()));
  std::string name = (parent / "tbemc-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return tl::make_unexpected(fmt::format("{}: {}", parent.string(), std::strerror(errno)));
  return TemporaryFolder(std::move(name));
}

}  // namespace tbem
