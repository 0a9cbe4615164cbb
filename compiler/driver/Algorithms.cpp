#include "compiler/driver/Algorithms.h"

#include "compiler/driver/ChoicesFile.h"
#include "compiler/jit/Cache.h"
#include "compiler/jit/Jit.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tbem::driver {

namespace {

std::string deviceLine(const std::string& backend, const tbem_device_info& device) {
  return fmt::format("{}, {}, {}, {}", backend, device.library, device.name, device.isa);
}

/// "" where there is no folder for caches.
std::string pathOf(const std::string& line) {
  const std::string folder = jit::defaultCacheDir();
  return folder.empty() ? folder : fmt::format("{}/algorithms/{}.txt", folder, jit::hashKey(line));
}

estimate::Choices readFile(const std::string& path, const std::string& device, std::string& note) {
  estimate::Choices choices;
  std::ifstream in(path, std::ios::binary);
  if (!in) return choices;
  std::ostringstream text;
  text << in.rdbuf();
  if (parseChoices(text.view(), device, choices)) return choices;
  note = fmt::format("{} is damaged: algorithms are measured again", path);
  return {};
}

/// Writes beside the file and renames. "" or why not.
std::string writeFile(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    return fmt::format("{}: {}", path, reason);
  }
  return {};
}

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

estimate::Choices readChoices(const std::string& backend, const tbem_device_info& device, std::string& note) {
  const std::string line = deviceLine(backend, device), path = pathOf(line);
  return path.empty() ? estimate::Choices{} : readFile(path, line, note);
}

tl::expected<estimate::Choices, std::string> addChoices(const std::string& backend, const tbem_device_info& device,
                                                        const estimate::Choices& fresh) {
  const std::string line = deviceLine(backend, device), path = pathOf(line);
  if (path.empty()) return tl::unexpected(std::string("there is no folder for caches (HOME or XDG_CACHE_HOME)"));
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
  const Lock lock(path + ".lock");
  std::string damaged;  // what was there is measured again
  estimate::Choices all = readFile(path, line, damaged);
  all.insert(fresh.begin(), fresh.end());
  if (const std::string problem = writeFile(path, choicesText(line, all)); !problem.empty()) return tl::unexpected(problem);
  return all;
}

std::string algorithmsText(const estimate::Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    if (program.calls[i].algorithm != 0) text += fmt::format("algorithm {} {}\n", i, program.calls[i].algorithm);
  }
  return text;
}

}  // namespace tbem::driver
