// Files and folders that are there whole, the former text or the new one, whatever happens in between.
#pragma once

#include "runtime/files/Read.h"

#include <span>
#include <string>
#include <string_view>

namespace tbem::files {

/// Writes the pieces one after the other as the content of `path`. They are written to a temporary file beside it and brought to
/// the disk before the former text is touched; then that file takes the place of the former by renaming. A file that is there
/// keeps its mode and owner; a symbolic link stays, and what it points to is written. Where renaming would lose something
/// (further hard links, an owner that cannot be given, extended attributes), the former file is overwritten, once the temporary
/// one holds the new text and the disk has room for it. Errors: path, reason, errno, and where the new text lies if the former is
/// damaged.
tl::expected<void, Failure> writeFile(const std::string& path, std::span<const std::string_view> pieces);
tl::expected<void, Failure> writeFile(const std::string& path, std::string_view text);

struct NewFile {
  std::string path;  ///< in its folder: "a.txt", "parts/b.txt"
  std::string text;
  bool runs = false;  ///< whoever may read it may run it
};
/// Makes a folder of these files, and the folders between. They are written to a temporary folder beside it, which takes the name
/// once all of them are on the disk: there is the whole folder or none. Errors: as above; where `path` is there already, whatever
/// it is, the code is EEXIST and nothing is changed.
tl::expected<void, Failure> writeFolder(const std::string& path, std::span<const NewFile> files);

}  // namespace tbem::files
