#include "Workers.h"

#include "runtime/measure/Campaign.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Protocol.h"
#include "runtime/store/Store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <new>

namespace tbem::measure {
namespace {

using Arguments = std::vector<std::string>;

int echo(const Arguments&) {
  std::cout << std::cin.rdbuf();
  return 0;
}

int hang(const Arguments&) {
  std::signal(SIGTERM, SIG_IGN);
  std::cerr << "hanging" << std::endl;
  for (;;) ::pause();
}

/// Writes n bytes to each of standard output and standard error, in turns.
int flood(const Arguments& arguments) {
  const std::string piece(1000, 'o'), other(1000, 'e');
  for (long left = std::stol(arguments.at(0)); left > 0; left -= 1000) {
    if (::write(1, piece.data(), piece.size()) < 0 || ::write(2, other.data(), other.size()) < 0) return 1;
  }
  return 0;
}

/// Takes memory until there is none, as a worker does that wants a large arena.
int hoard(const Arguments&) {
  try {
    for (;;) {
      auto* piece = new char[16u << 20];
      piece[0] = 1;
    }
  } catch (const std::bad_alloc&) {
    std::cerr << "no memory for 16 MiB more\n";
    return kExitOutOfMemory;
  }
}

/// Leaves a grandchild that holds the pipes open; says its process id.
int orphan(const Arguments&) {
  const pid_t pid = ::fork();
  if (pid == 0)
    for (;;) ::pause();
  std::cout << pid << std::endl;
  return 0;
}

/// Starts a child that hangs, and says its process id before it waits for it.
int parent(const Arguments& arguments) {
  Command command;
  command.argv = {"/bin/sh", "-c", "echo $$ > " + arguments.at(0) + "; exec sleep 1000"};
  return spawn(command).has_value() ? 0 : 1;
}

struct Block {
  char* bytes = nullptr;
  std::size_t size = 0;
  explicit Block(std::size_t n)
      : bytes(static_cast<char*>(::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))), size(n) {}
  ~Block() { ::munmap(bytes, size); }
  void touch() {
    for (std::size_t at = 0; at < size; at += 4096) bytes[at] = 1;
  }
};

/// Set-up takes 96 MiB and gives them back; it keeps 24 MiB; a step takes 48 MiB and gives them back.
int memory(const Arguments&) {
  {
    Block compile(96u << 20);
    compile.touch();
  }
  Block weights(24u << 20);
  weights.touch();
  Settings settings;
  settings.steps = 5;
  settings.minSeconds = 0;
  settings.maxSteps = 5;
  EnergyMeter energy;
  const auto value = measure(
      []() -> tl::expected<void, StepError> {
        Block arena(48u << 20);
        arena.touch();
        return {};
      },
      settings, energy);
  std::cout << "a line before\n" << toJson(value) << "\n";
  return 0;
}

void append(const std::string& path, const std::string& line) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  ::close(fd);
}

/// A campaign of 60 rows, two backends, two repeats; each case takes a millisecond. Arguments: folder.
/// `ran` gets a line when a case starts, `kept` when its commit has returned.
int campaign(const Arguments& arguments) {
  const std::string& folder = arguments.at(0);
  auto store = store::Store::open(folder + "/store.tbemdb");
  if (!store) return 3;
  std::vector<runtime::Case> cases;
  for (std::uint32_t repeat = 0; repeat < 2; ++repeat)
    for (std::uint32_t row = 0; row < 60; ++row)
      for (const std::string backend : {"cpu", "ref"})
        cases.push_back({"id-" + std::to_string(row) + "-" + backend, "design", row, "{}", backend, repeat, 1});
  Hooks hooks;
  hooks.known = [&](const runtime::Case& one) -> tl::expected<std::optional<Known>, std::string> {
    auto found = store->finished(one.identity, one.repeat);
    if (!found) return tl::unexpected(found.error().message);
    if (!*found) return std::optional<Known>();
    return std::optional(Known{(*found)->status, (*found)->timeLimit});
  };
  hooks.run = [&](const runtime::Case& one, double, std::size_t) {
    append(folder + "/ran", one.identity + " " + std::to_string(one.repeat) + "\n");
    ::usleep(1000);
    runtime::Measurement value;
    value.status = one.row % 7 == 0 ? runtime::Status::OutOfMemory : runtime::Status::Ok;
    value.memoryPeak = one.row * 1000 + one.repeat;
    return value;
  };
  hooks.commit = [&](const runtime::Case& one, const runtime::Measurement& value) -> tl::expected<void, std::string> {
    auto kept = store->commit(one, value);
    if (!kept) return tl::unexpected(kept.error().message);
    append(folder + "/kept", one.identity + " " + std::to_string(one.repeat) + "\n");
    return {};
  };
  const CampaignResult result = runCampaign(cases, hooks, {});
  return result.end == End::Complete ? 0 : 4;
}

}  // namespace

int playWorker(int argc, char** argv) {
  const std::map<std::string, std::function<int(const Arguments&)>> roles = {{"echo", echo},
                                                                             {"hang", hang},
                                                                             {"flood", flood},
                                                                             {"hoard", hoard},
                                                                             {"orphan", orphan},
                                                                             {"parent", parent},
                                                                             {"memory", memory},
                                                                             {"campaign", campaign},
                                                                             {"exit",
                                                                              [](const Arguments& a) {
                                                                                std::cerr << "first\nlast words\n\n";
                                                                                return std::stoi(a.at(0));
                                                                              }},
                                                                             {"abort",
                                                                              [](const Arguments&) -> int {
                                                                                std::cerr << "an assertion failed\n";
                                                                                std::abort();
                                                                              }},
                                                                             {"kill",
                                                                              [](const Arguments&) -> int {
                                                                                std::raise(SIGKILL);
                                                                                return 0;
                                                                              }},
                                                                             {"segfault",
                                                                              [](const Arguments&) -> int {
                                                                                std::signal(SIGSEGV, SIG_DFL);
                                                                                std::raise(SIGSEGV);
                                                                                return 0;
                                                                              }},
                                                                             {"say", [](const Arguments& a) {
                                                                                std::cout << a.at(0);
                                                                                return 0;
                                                                              }}};
  return roles.at(argv[0])(Arguments(argv + 1, argv + argc));
}

std::vector<std::string> as(const std::string& role, const std::vector<std::string>& more) {
  std::vector<std::string> argv = {"/proc/self/exe", "--as", role};
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) argv[0].assign(path, static_cast<std::size_t>(length));
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

}  // namespace tbem::measure
