#include "compiler/diagnostics/Session.h"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace tbem {

std::string programOf(const void* session) {
  std::string program;
  for (const Source& source : static_cast<const Session*>(session)->sources.all()) {
    if (!source.name.starts_with("<std>")) program += fmt::format("// ---- {}\n{}\n", source.name, source.text);
  }
  return program;
}

std::string writeReproducer(const std::string& program) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  constexpr std::string_view kEnd = ".tbem";
  std::string path = (folder / fmt::format("tbemc-bug-XXXXXX{}", kEnd)).string();
  // A name that nobody can have put a link at before.
  const int opened = ::mkstemps(path.data(), static_cast<int>(kEnd.size()));
  std::FILE* file = opened < 0 ? nullptr : ::fdopen(opened, "w");
  if (file == nullptr) return {};
  const bool written = std::fwrite(program.data(), 1, program.size(), file) == program.size();
  return std::fclose(file) == 0 && written ? path : std::string();
}

}  // namespace tbem
