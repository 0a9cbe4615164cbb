#include "compiler/jit/glue/CacheFile.h"

#include "compiler/jit/glue/Cache.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>

#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tbem::driver {

namespace {
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;

/// Holds others out while it lives; they wait.
class Lock {
public:
  explicit Lock(const std::string& path)
      : file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)) {
    if (file >= 0) ::flock(file, LOCK_EX);
  }
  ~Lock() {
    if (file >= 0) ::close(file);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  int file;
};
}  // namespace

std::string cacheFilePath(const std::string& folder, const std::string& line) {
  const std::string caches = jit::defaultCacheDir();
  return caches.empty() ? caches : fmt::format("{}/{}/{}.txt", caches, folder, jit::hashKey(line));
}

std::string notBelieved(const std::string& refused) { return fmt::format("a file of the cache is not used: {}", refused); }

std::string readText(const std::string& path, std::string& refused) {
  auto text = readPrivate(jit::defaultCacheDir(), path, kMostBytes);
  refused = text ? std::string() : text.error();
  return text && *text ? std::move(**text) : std::string();
}

std::string updateText(const std::string& path, const std::function<std::string(const std::string& text)>& change) {
  for (const std::string& folder : {jit::defaultCacheDir(), std::filesystem::path(path).parent_path().string()}) {
    if (std::string problem = makePrivateFolder(folder); !problem.empty()) return problem;
  }
  const Lock lock(path + ".lock");
  std::string refused;
  const std::string text = change(readText(path, refused));
  std::error_code ignored;
  if (!refused.empty()) std::filesystem::remove(path, ignored);  // its mode, owner or target is not to be the new one's
  const auto written = files::writeFile(path, text);
  return written ? std::string() : written.error().message;
}

}  // namespace tbem::driver
