#include "compiler/experiment/OutFolder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tbem::driver {

namespace {

namespace fs = std::filesystem;

/// The folder itself, or the nearest above it that is there.
fs::path nearestThere(fs::path folder) {
  std::error_code ignored;
  while (!folder.empty() && !fs::exists(folder, ignored)) {
    const fs::path above = folder.parent_path();
    if (above == folder) break;
    folder = above;
  }
  return folder.empty() ? fs::path(".") : folder;
}

/// Why nothing can be written into a folder that is there; "" where it can.
std::string whyNotWritten(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return fmt::format("{} is no folder", folder.string());
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return fmt::format("{} cannot be written: {} (errno {})", folder.string(), std::strerror(errno), errno);
}

}  // namespace

std::string outFolder(const Workspace& workspace, const std::string& asked) {
  if (!asked.empty()) return asked;
  std::string folder = workspace.beside(".out");
  std::error_code ignored;
  if (!folder.empty() && fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) folder += ".d";
  return folder;
}

tl::expected<void, Failed> foldersReady(const std::string& store, const std::string& out) {
  if (!store.empty()) {
    const fs::path parent = fs::path(store).parent_path();
    const fs::path folder = parent.empty() ? fs::path(".") : parent;
    std::error_code ignored;
    const std::string why = fs::exists(folder, ignored) ? whyNotWritten(folder) : fmt::format("{} is not there", folder.string());
    if (!why.empty()) return failed(kEnvironment, fmt::format("--store {}: {}; make the folder, or name another", store, why));
  }
  if (out.empty()) return {};
  const std::string why = whyNotWritten(nearestThere(out));
  if (!why.empty()) return failed(kEnvironment, fmt::format("--out {}: {}; name another folder", out, why));
  return {};
}

std::string checkpointPath(const Workspace& workspace, const TrainingRun& training, const std::string& asked) {
  const std::string folder = outFolder(workspace, asked);
  if (folder.empty()) return {};
  return (fs::path(folder) / (training.spec.decl->name.text + ".safetensors")).string();
}

}  // namespace tbem::driver
