#include "compiler/driver/Algorithms.h"

#include "compiler/jit/Cache.h"
#include "compiler/jit/Jit.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
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

constexpr std::string_view kMagic = "tbemc algorithms 2";

std::string deviceLine(const std::string& backend, const tbem_device_info& device) {
  return fmt::format("{}, {}, {}, {}", backend, device.library, device.name, device.isa);
}

/// "" where there is no folder for caches.
std::string pathOf(const std::string& line) {
  const std::string folder = jit::defaultCacheDir();
  return folder.empty() ? folder : fmt::format("{}/algorithms/{}.txt", folder, jit::hashKey(line));
}

std::string textOf(const std::string& device, const estimate::Choices& choices) {
  std::string body = device + "\n";
  for (const auto& [key, choice] : choices) {
    body += fmt::format("{}\t{}", key, choice.algorithm);
    for (const double seconds : choice.seconds) body += fmt::format("\t{:.6g}", seconds);
    body += "\n";
  }
  return fmt::format("{}\n{}\n{}", kMagic, jit::hashKey(body), body);
}

std::string_view takeUntil(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

template <class Number>
bool readNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// One line of the file; false where it is none.
bool readLine(std::string_view line, estimate::Choices& choices) {
  const std::string key(takeUntil(line, '\t'));
  estimate::Choice choice;
  if (key.empty() || !readNumber(takeUntil(line, '\t'), choice.algorithm)) return false;
  while (!line.empty()) {
    double seconds = 0;
    if (choice.seconds.size() == TBEM_MAX_ALGORITHMS || !readNumber(takeUntil(line, '\t'), seconds)) return false;
    choice.seconds.push_back(seconds);
  }
  if (choice.algorithm < 0 || static_cast<std::size_t>(choice.algorithm) >= choice.seconds.size()) return false;
  choices.emplace(key, std::move(choice));
  return true;
}

bool parse(std::string_view text, const std::string& device, estimate::Choices& choices) {
  if (takeUntil(text, '\n') != kMagic) return false;
  const std::string_view sum = takeUntil(text, '\n');
  if (jit::hashKey(text) != sum || takeUntil(text, '\n') != device) return false;
  while (!text.empty()) {
    if (!readLine(takeUntil(text, '\n'), choices)) return false;
  }
  return true;
}

estimate::Choices readFile(const std::string& path, const std::string& device, std::string& note) {
  estimate::Choices choices;
  std::ifstream in(path, std::ios::binary);
  if (!in) return choices;
  std::ostringstream text;
  text << in.rdbuf();
  if (parse(text.view(), device, choices)) return choices;
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
  if (const std::string problem = writeFile(path, textOf(line, all)); !problem.empty()) return tl::unexpected(problem);
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
