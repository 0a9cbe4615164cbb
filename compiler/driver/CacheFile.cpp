#include "compiler/driver/CacheFile.h"

#include "compiler/jit/Cache.h"
#include "compiler/jit/Jit.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tbem::driver {

namespace {
/// Holds others out while it lives; they wait.
class Lock {
public:
  explicit Lock(const std::string& path) : file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
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

std::string readText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

std::string updateText(const std::string& path, const std::function<std::string(const std::string& text)>& change) {
  if (std::string problem = makePrivateFolder(std::filesystem::path(path).parent_path().string()); !problem.empty()) return problem;
  const Lock lock(path + ".lock");
  const auto written = report::writeAtomically(path, change(readText(path)));
  return written ? std::string() : written.error();
}

}  // namespace tbem::driver
