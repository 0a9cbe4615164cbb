#include "tools/tbemc/Process.h"

#include "compiler/process/OpenMp.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::process {

namespace {
// What a signal handler may touch must be static.
volatile std::sig_atomic_t signalled = 0;
struct sigaction oldInterrupt {
}, oldTerminate{};
void onSignal(int signal) { signalled = signal; }
}  // namespace

void limitSpinning(const char* program, char** argv) {
  const std::vector<std::string> variables = driver::waitingThreads();
  if (variables.empty()) return;
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 0) != 0) return;
  }
  const driver::AllProcessors inherited;
  ::execv(program, argv);  // where it fails, the program goes on as it is: slower beside others, no less right
}

void holdStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken: that of this stream. It is opened the wrong way round, so that its use fails.
    [[maybe_unused]] const int opened = ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void writesSayWhatFails() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void endBySigpipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

namespace {

/// A file without a name, in memory.
class MemoryFile {
public:
  MemoryFile() : file(::memfd_create("tbemc", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (file >= 0) ::close(file);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return file; }
  /// False, with errno: it has no room.
  bool fill(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(file, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return ::lseek(file, 0, SEEK_SET) == 0;
  }
  std::string content() const {
    std::string text;
    char piece[4096];
    for (off_t at = 0;;) {
      const ssize_t count = ::pread(file, piece, sizeof piece, at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(piece, static_cast<std::size_t>(count));
      at += count;
    }
  }

private:
  int file;
};

tl::unexpected<std::string> cannot(const char* what, int reason) {
  return tl::unexpected(fmt::format("cannot {}: {} (errno {})", what, std::strerror(reason), reason));
}

}  // namespace

tl::expected<repl::Ended, std::string> runSelf(const char* program, const repl::SelfCommand& command) {
  MemoryFile input, output;
  if (input.descriptor() < 0 || output.descriptor() < 0 || !input.fill(command.input))
    return cannot("hand the program over to a command", errno);
  std::vector<std::string> words = {"tbemc"};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_adddup2(&streams, input.descriptor(), STDIN_FILENO);
  if (command.keepsOutput) ::posix_spawn_file_actions_adddup2(&streams, output.descriptor(), STDOUT_FILENO);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, program, &streams, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  if (failure != 0) return cannot("start a command", failure);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return cannot("wait for a command", errno);
  }
  repl::Ended ended;
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (command.keepsOutput) ended.output = output.content();
  return ended;
}

std::string historyFile() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/tbemc/history";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state/tbemc/history" : std::string();
}

void Signals::begin() {
  signalled = 0;
  struct sigaction action {};
  action.sa_handler = onSignal;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGTERM, &action, &oldTerminate);
}

void Signals::end() {
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
}

bool Signals::asked() const { return signalled != 0; }
bool Signals::endAsked() const { return signalled == SIGTERM; }

}  // namespace tbem::process
