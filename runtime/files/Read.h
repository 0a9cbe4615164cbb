// Files, opened and read in one way: what is no regular file is refused and never waited for, a read that fails is no end of the
// file, and nothing is taken into memory without a limit.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace tbem::files {

/// Why something cannot be done to a file: "cannot read PATH: REASON (errno N)".
struct Failure {
  std::string message;
  int code = 0;  ///< errno; 0 where the system had no objection
};
/// The failure of the errno of now; `what`: "read", "write".
Failure failureOf(const char* what, const std::string& path);

/// An open file; closed with this object.
class OpenFile {
public:
  enum class Links : std::uint8_t { Followed, Refused };
  /// A regular file, for reading. Refused: folders, pipes, sockets, devices.
  static tl::expected<OpenFile, Failure> open(const std::string& path, Links links = Links::Followed);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int descriptor() const { return file; }
  /// Bytes that it has now.
  std::uint64_t size() const;
  /// All that it holds from where it stands. Fails where it is more than `most` bytes.
  tl::expected<std::string, Failure> read(std::uint64_t most) const;

private:
  friend tl::expected<std::string, Failure> readText(const std::string& path, std::uint64_t most);
  OpenFile(int file, std::string path) : file(file), path(std::move(path)) {}
  int file = -1;
  std::string path;
};

/// All of a regular file of at most `most` bytes.
tl::expected<std::string, Failure> readFile(const std::string& path, std::uint64_t most);

/// Whether the path names something that the process was started with: "-" and "/dev/stdin" (standard input), or "/dev/fd/N", as
/// a shell's `<(...)` gives it. It is read once, and nothing lies beside it.
bool isInherited(const std::string& path);

/// A text that somebody hands over: as `readFile`, and of what is inherited (above) also a pipe, a terminal or a device.
tl::expected<std::string, Failure> readText(const std::string& path, std::uint64_t most);

}  // namespace tbem::files
