// A program run to its end in its own process group, with its pipes served and a limit of time.
#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Pipes.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace tbem::measure {
namespace {

constexpr std::size_t kErrorTail = 16u << 10;
constexpr double kDrainSeconds = 0.5;  ///< after the exit, for what is still in the pipes

/// Everything the new process needs, made before the fork: after it only async-signal-safe calls are allowed, and nothing that
/// changes memory, which is this process's until the exec.
struct Image {
  std::vector<char*> argv, envp;
  const char* folder = nullptr;  ///< nullptr: this process's
  rlim_t memory = RLIM_INFINITY;
  pid_t parent = 0;
  int input = -1, output = -1, error = -1, report = -1;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  return all;
}

/// This process's variables without those that the command leaves out, and with its own in place of equal names.
std::vector<char*> environmentOf(const Command& command) {
  std::vector<char*> all = pointers(command.environment);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view own(*entry);
    const std::string_view key = own.substr(0, own.find('=') + 1);
    const bool replaced = std::any_of(command.environment.begin(), command.environment.end(),
                                      [&](const std::string& e) { return e.starts_with(key); });
    const bool leftOut =
        std::any_of(command.without.begin(), command.without.end(), [&](const std::string& name) { return key == name + "="; });
    if (!replaced && !leftOut) all.push_back(*entry);
  }
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void giveUp(int report) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

/// Holds back all signals: a handler that ran in the child between fork and exec would change this process's memory.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

private:
  sigset_t before{};
};

/// The child between fork and exec.
[[noreturn]] void become(const Image& image) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != image.parent) ::_exit(127);  // the parent died before the request was made
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGXFSZ, SIGXCPU}) ::sigaction(signal, &normal, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(image.input, 0) < 0 || ::dup2(image.output, 1) < 0 || ::dup2(image.error, 2) < 0) giveUp(image.report);
  ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC; older kernels rely on O_CLOEXEC */);
  if (image.memory != RLIM_INFINITY) {
    const rlimit limit{image.memory, image.memory};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) giveUp(image.report);
  }
  if (image.folder != nullptr && ::chdir(image.folder) != 0) giveUp(image.report);
  ::execvpe(image.argv[0], image.argv.data(), image.envp.data());
  giveUp(image.report);
}

/// The child's number; -1 and errno where there is none. The child borrows this process's memory until its exec: to copy the page
/// tables of a compiler takes longer than to start a worker.
pid_t startProcess(const Image& image) {
  const NoSignals held;
  const pid_t pid = ::vfork();
  if (pid == 0) become(image);
  return pid;
}

/// "oom_kill 3" of /proc/vmstat (Linux 4.13 and later).
std::optional<std::uint64_t> oomKillsSoFar() {
  FILE* file = std::fopen("/proc/vmstat", "re");
  if (file == nullptr) return std::nullopt;
  std::optional<std::uint64_t> found;
  char line[128];
  unsigned long long value = 0;
  while (!found && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "oom_kill %llu", &value) == 1) found = value;
  std::fclose(file);
  return found;
}

/// Writing to a pipe whose reader is gone raises SIGPIPE in this thread: it is held back here, and taken away afterwards.
class NoSigpipe {
public:
  NoSigpipe() {
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~NoSigpipe() {
    const timespec now{};
    if (!was)
      while (sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t pipe{}, before{};
  bool was = false;
};

/// Of a child.
struct Pipes {
  Pipe input, output, error, report;  ///< `report`: why it could not become the program
};

/// The parent's side: serves the pipes and waits.
class Watch {
public:
  Watch(const Command& from, pid_t child, Pipes& pipes, double began, Outcome& to)
      : command(from), pid(child), input(pipes.input), output(pipes.output), error(pipes.error), start(began), outcome(to) {
    handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // -1 on kernels before 5.3: then by turns
    for (Pipe* pipe : {&input, &output, &error}) pipe->unblock();
  }
  ~Watch() {
    if (handle >= 0) ::close(handle);
  }

  void run() {
    const NoSigpipe quiet;
    if (command.input.empty()) input.closeWrite();
    while (!reap()) {
      serve(waitMilliseconds());
      if (!outcome.timedOut && command.timeLimit > 0 && monotonicSeconds() - start >= command.timeLimit) {
        outcome.timedOut = true;
        ::kill(-pid, SIGKILL);
        ::kill(pid, SIGKILL);
      }
    }
    ::kill(-pid, SIGKILL);  // what it left behind
    input.closeWrite();
    const double end = monotonicSeconds() + kDrainSeconds;
    while ((output.reading() || error.reading()) && monotonicSeconds() < end) serve(20);
  }

private:
  int waitMilliseconds() const {
    double wait = handle >= 0 ? 1.0 : 0.01;
    if (command.timeLimit > 0 && !outcome.timedOut) wait = std::min(wait, command.timeLimit - (monotonicSeconds() - start));
    return static_cast<int>(std::max(0.0, wait) * 1000) + 1;
  }

  bool reap() {
    int status = 0;
    rusage used{};
    const pid_t ended = ::wait4(pid, &status, WNOHANG, &used);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    outcome.wallSeconds = monotonicSeconds() - start;
    if (ended < 0) return true;  // somebody else reaped it; neither code nor signal: classified as failed
    if (WIFEXITED(status)) outcome.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    outcome.cpuSeconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    return true;
  }

  void serve(int milliseconds) {
    pollfd ends[4] = {{input.write, POLLOUT, 0}, {output.read, POLLIN, 0}, {error.read, POLLIN, 0}, {handle, POLLIN, 0}};
    if (::poll(ends, 4, milliseconds) <= 0) return;  // closed ends are -1: poll passes over them
    if (ends[0].revents != 0) feed();
    if (ends[1].revents != 0)
      output.drain([&](std::string_view piece) {
        const std::size_t room = command.maxOutput - std::min(command.maxOutput, outcome.output.size());
        outcome.output.append(piece.substr(0, room));
        outcome.outputCut |= piece.size() > room;
      });
    if (ends[2].revents != 0)
      error.drain([&](std::string_view piece) {
        outcome.errorTail.append(piece);
        if (outcome.errorTail.size() > 2 * kErrorTail) outcome.errorTail.erase(0, outcome.errorTail.size() - kErrorTail);
      });
  }

  void feed() {
    const ssize_t wrote = ::write(input.write, command.input.data() + fed, command.input.size() - fed);
    if (wrote > 0) fed += static_cast<std::size_t>(wrote);
    const bool gone = wrote < 0 && errno != EAGAIN && errno != EINTR;  // it does not read: its affair
    if (gone || fed == command.input.size()) input.closeWrite();
  }

  const Command& command;
  pid_t pid;
  Pipe &input, &output, &error;
  double start;
  Outcome& outcome;
  int handle = -1;
  std::size_t fed = 0;
};

std::string cannotStart(const std::string& program, int reason) {
  const char* wayOut = reason == ENOENT   ? "; is it installed, and in PATH?"
                       : reason == EAGAIN ? "; the limit of processes is reached (ulimit -u)"
                                          : "";
  return fmt::format("cannot start {}: {}{}", program, std::strerror(reason), wayOut);
}

}  // namespace

tl::expected<Outcome, std::string> spawn(const Command& command) {
  if (command.argv.empty()) return tl::unexpected(std::string("cannot start a program without a name"));
  Pipes pipes;
  auto& [input, output, error, report] = pipes;
  for (Pipe* pipe : {&input, &output, &error, &report})
    if (!pipe->make()) return tl::unexpected(fmt::format("cannot make a pipe: {} (ulimit -n)", std::strerror(errno)));
  Image image;
  image.argv = pointers(command.argv);
  image.argv.push_back(nullptr);
  image.envp = environmentOf(command);
  if (!command.folder.empty()) image.folder = command.folder.c_str();
  if (command.memoryLimit != 0) image.memory = command.memoryLimit;
  image.parent = ::getpid();
  image.input = input.read, image.output = output.write, image.error = error.write, image.report = report.write;

  Outcome outcome;
  const auto killsBefore = oomKillsSoFar();
  const double start = monotonicSeconds();
  const pid_t pid = startProcess(image);
  if (pid < 0) return tl::unexpected(cannotStart(command.argv[0], errno));
  ::setpgid(pid, pid);  // here as well: whoever comes first
  for (Pipe* pipe : {&output, &error, &report}) pipe->closeWrite();
  input.closeRead();
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(report.read, &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (got == sizeof reason) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return tl::unexpected(cannotStart(command.argv[0], reason));
  }
  Watch(command, pid, pipes, start, outcome).run();
  if (outcome.errorTail.size() > kErrorTail) outcome.errorTail.erase(0, outcome.errorTail.size() - kErrorTail);
  const auto killsAfter = oomKillsSoFar();
  if (killsBefore && killsAfter) outcome.oomKills = *killsAfter - *killsBefore;
  return outcome;
}

}  // namespace tbem::measure
