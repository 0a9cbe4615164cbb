// Files that are there whole or not at all.
#include "runtime/files/Write.h"
#include "runtime/report/Svg.h"

#include <cerrno>
#include <filesystem>

namespace tbem::report {

tl::expected<void, std::string> writeAtomically(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  errno = failed.value();
  const auto written = failed ? tl::make_unexpected(files::failureOf("write", folder.string())) : files::writeFile(path, text);
  if (written) return {};
  const int code = written.error().code;
  const bool forbidden = code == EACCES || code == EROFS || code == EPERM;
  return tl::unexpected(written.error().message + (forbidden ? "; give a folder that may be written to with --out" : ""));
}

}  // namespace tbem::report
