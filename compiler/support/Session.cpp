#include "compiler/support/Session.h"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace tbem {

std::string writeReproducer(void* context) {
  const auto& session = *static_cast<const Session*>(context);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  constexpr std::string_view kEnd = ".tbem";
  std::string path = (folder / fmt::format("tbemc-bug-XXXXXX{}", kEnd)).string();
  // A name that nobody can have put a link at before.
  const int opened = ::mkstemps(path.data(), static_cast<int>(kEnd.size()));
  std::FILE* file = opened < 0 ? nullptr : ::fdopen(opened, "w");
  if (file == nullptr) return {};
  for (const Source& source : session.sources.all()) {
    if (source.name.starts_with("<std>")) continue;
    fmt::print(file, "// ---- {}\n{}\n", source.name, source.text);
  }
  return std::fclose(file) == 0 ? path : std::string();
}

}  // namespace tbem
