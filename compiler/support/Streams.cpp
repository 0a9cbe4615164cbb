#include "compiler/support/Streams.h"

#include "compiler/support/Unicode.h"

#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <string>

namespace tbem {

namespace {

// As the streams themselves, one a process.
std::atomic<int> outputFailure{0}, errorFailure{0};

void remember(std::FILE* stream, int reason) {
  int none = 0;
  (stream == stdout ? outputFailure : errorFailure).compare_exchange_strong(none, reason != 0 ? reason : EIO);
}

void flush(std::FILE* stream) {
  errno = 0;
  if (std::fflush(stream) != 0) remember(stream, errno);
}

}  // namespace

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

bool outputHasNoReader() { return outputFailure == EPIPE; }

int writeFailure(std::FILE* stream) {
  flush(stream);
  return stream == stdout ? outputFailure : errorFailure;
}

}  // namespace tbem
