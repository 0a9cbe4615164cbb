// A pipe whose ends close themselves. Private to this folder.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <string_view>

namespace tbem::measure {

struct Pipe {
  int read = -1, write = -1;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    closeRead();
    closeWrite();
  }

  /// Both ends close on exec, and neither is 0, 1 or 2 (which the child's own ends become). False: errno says why.
  bool make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = aboveStandard(ends[0]), write = aboveStandard(ends[1]);
    return read >= 0 && write >= 0;
  }
  static int aboveStandard(int fd) {
    if (fd > 2) return fd;
    const int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return higher;
  }
  void closeRead() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void closeWrite() {
    if (write >= 0) ::close(write);
    write = -1;
  }
  bool reading() const { return read >= 0; }
  void unblock() {
    for (const int end : {read, write})
      if (end >= 0) ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK);
  }
  /// Gives what is there to `take`, and closes the end when the other side has closed. Reads at most 1 MiB at a time, so that
  /// a writer without end keeps nobody from looking at the clock.
  template <class Take>
  void drain(Take take) {
    char piece[16384];
    for (int turn = 0; turn < 64; ++turn) {
      const ssize_t got = ::read(read, piece, sizeof piece);
      if (got > 0) {
        take(std::string_view(piece, static_cast<std::size_t>(got)));
        continue;
      }
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      closeRead();
      return;
    }
  }
};

}  // namespace tbem::measure
