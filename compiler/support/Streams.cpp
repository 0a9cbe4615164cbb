#include "compiler/support/Streams.h"

#include "compiler/support/Unicode.h"

#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>

namespace tbem {

namespace {

// As the streams themselves, one a process.
std::atomic<int> outputFailure{0}, errorFailure{0};
std::atomic<bool> outlives{true};

void remember(std::FILE* stream, int reason) {
  int none = 0;
  (stream == stdout ? outputFailure : errorFailure).compare_exchange_strong(none, reason != 0 ? reason : EIO);
  if (stream != stdout || reason != EPIPE || outlives) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

void flush(std::FILE* stream) {
  errno = 0;
  if (std::fflush(stream) != 0) remember(stream, errno);
}

}  // namespace

void holdStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken: that of this stream. It is opened the wrong way round, so that its use fails.
    [[maybe_unused]] const int opened = ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);  // writing says EPIPE
}

void outliveReader(bool yes) { outlives = yes; }

void writeStyled(std::FILE* stream, std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) remember(stream, errno);
}

void writeText(std::FILE* stream, std::string_view text) { writeStyled(stream, printable(text)); }

void writeData(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1)
    writeText(stdout, text);
  else
    writeStyled(stdout, text);
}

void flushOutput() { flush(stdout); }

int writeFailure(std::FILE* stream) {
  flush(stream);
  return stream == stdout ? outputFailure : errorFailure;
}

}  // namespace tbem
