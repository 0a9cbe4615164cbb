#include "compiler/support/Session.h"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <filesystem>

namespace tbem {

std::string writeReproducer(void* context) {
  const auto& session = *static_cast<const Session*>(context);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  const std::string path = (folder / fmt::format("tbemc-bug-{}.tbem", ::getpid())).string();
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return {};
  for (const Source& source : session.sources.all()) {
    if (source.name.starts_with("<std>")) continue;
    fmt::print(file, "// ---- {}\n{}\n", source.name, source.text);
  }
  return std::fclose(file) == 0 ? path : std::string();
}

}  // namespace tbem
