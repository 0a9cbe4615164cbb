// Folders and files whose content is run or believed later: the caller's own, which nobody else can write.
#pragma once

#include <tl/expected.hpp>

#include <string>

namespace tbem {

/// "" where `path` is a folder or a regular file (no link) of the caller or of root that neither its group nor others can
/// write; else why it is not, with the path and the way out. A path that is not there gives its error too.
std::string whyNotPrivate(const std::string& path);

/// Makes a folder and those above it that are missing, for the caller alone (0700). "" where it then is private (as above).
std::string makePrivateFolder(const std::string& path);

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
