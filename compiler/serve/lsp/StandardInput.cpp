#include "compiler/serve/lsp/StandardInput.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace tbem::serve {

std::optional<std::string> readStandardInput() {
  constexpr int kWhile = 100;  // milliseconds: as long as the end of the program may have to wait
  constexpr std::size_t kPiece = 65536;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, 1, kWhile);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return std::nullopt;
  std::string bytes(kPiece, '\0');
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

}  // namespace tbem::serve
