// Folders and files whose content is run or believed later: the caller's own, which nobody else can write.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbem {

/// "" where `path` is a folder or a regular file (no link) of the caller or of root that neither its group nor others can
/// write; else why it is not, with the path and the way out. A path that is not there gives its error too.
std::string whyNotPrivate(const std::string& path);

/// The bytes of the file at `path` inside the folder `root`; nothing where it is not there. An error, as above, where it, `root`
/// or a folder between them is not private, and where it cannot be read or has more than `most` bytes.
tl::expected<std::optional<std::string>, std::string> readPrivate(const std::string& root, const std::string& path,
                                                                  std::uint64_t most);

/// Makes a folder and those above it that are missing, for the caller alone (0700). "" where it then is private (as above).
std::string makePrivateFolder(const std::string& path);

/// Writes a file inside the folder `root` under a temporary name and renames it, so that a reader sees all of it or nothing; the
/// folders that are missing are made as above. "" or why not (path and reason).
std::string writePrivate(const std::string& root, const std::string& path, std::string_view bytes);

/// A folder of an unpredictable name in the temporary directory, for the caller alone (0700). It goes with this object,
/// and all that is in it.
class TemporaryFolder {
public:
  /// Errors: the temporary directory is not there or cannot be written (path and reason).
  static tl::expected<TemporaryFolder, std::string> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::string& path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder);
  std::string folder;  ///< "": moved from
};

}  // namespace tbem
