// A row on its way to the process that measures it: one file beside the row's native code. Who reads it needs no program.
#pragma once

#include "runtime/core/ExecutableFile.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// Where a row's file lies, and of which row it must be.
struct RowFile {
  std::string path;
  std::string identity;
  std::string cacheDir;  ///< folder of the compiled objects, in which it lies
};

/// Writes DIR/xy/KEY-IDENTITY.run; KEY: of the native code, xy: its first two digits. Errors: path and reason.
tl::expected<RowFile, std::string> writeRow(const std::string& cacheDir, const runtime::ExecutableFile& row);

/// Hash of a library of the program's own operators, wherever it lies: part of the identity. "missing" where it cannot be read.
std::string libraryHash(const std::string& path);

/// What was written, without `step`. Errors, with the way out: the file is not there, others could have written it, it is damaged
/// or another row's, or a library of the program's own operators is no longer the one of the row.
tl::expected<runtime::ExecutableFile, std::string> readRow(const RowFile& file);

}  // namespace tbem::driver
