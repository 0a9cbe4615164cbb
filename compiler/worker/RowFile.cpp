#include "compiler/worker/RowFile.h"

#include "compiler/jit/glue/Cache.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/data/File.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace tbem::driver {

namespace {

/// Descriptions of the largest networks take some hundred KiB.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

}  // namespace

std::string libraryHash(const std::string& path) {
  const auto file = data::MappedFile::open(path);
  return file ? jit::hashKey(file->text()) : "missing";
}

tl::expected<RowFile, std::string> writeRow(const std::string& cacheDir, const runtime::ExecutableFile& row) {
  RowFile file;
  file.path = fmt::format("{}/{}/{}-{}.run", cacheDir, row.object.substr(0, 2), row.object, row.identity);
  file.identity = row.identity;
  file.cacheDir = cacheDir;
  if (std::string problem = writePrivate(cacheDir, file.path, runtime::executableText(row)); !problem.empty())
    return tl::unexpected(std::move(problem));
  return file;
}

tl::expected<runtime::ExecutableFile, std::string> readRow(const RowFile& file) {
  const auto text = readPrivate(file.cacheDir, file.path, kMostBytes);  // it says which native code is run
  if (!text) return tl::unexpected(text.error());
  if (!*text) return tl::unexpected(fmt::format("{} is no longer there: measure again", file.path));
  auto row = runtime::readExecutable(**text, file.path);
  if (!row) return row;
  if (row->identity != file.identity)
    return tl::unexpected(fmt::format("{} is of row {}, expected {}: measure again", file.path, row->identity, file.identity));
  for (const runtime::LibraryDesc& library : row->libraries) {
    if (libraryHash(library.path) == library.hash) continue;
    return tl::unexpected(fmt::format("the program's own library {} changed while it was measured: measure again", library.path));
  }
  return row;
}

}  // namespace tbem::driver
