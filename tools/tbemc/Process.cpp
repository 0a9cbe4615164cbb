#include "tools/tbemc/Process.h"

#include "compiler/process/OpenMp.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>  // says whether the C library is GNU's
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tbem::process {

namespace {
// What a signal handler may touch must be static.
volatile std::sig_atomic_t signalled = 0;
struct sigaction oldInterrupt {
}, oldTerminate{};
void onSignal(int) { signalled = 1; }
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

void growHeapInLargeSteps() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_TOP_PAD, 16 * kMiB);
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
#endif
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

}  // namespace tbem::process
