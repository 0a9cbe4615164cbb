#include "test/unit/campaign/Workers.h"

#include "runtime/core/ExecutableFile.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tbem::test {
namespace {

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string happened(const std::string& what, std::string text) {
  if (what == "cut") text.resize(text.size() / 2);
  if (what == "altered") text.back() = static_cast<char>(text.back() ^ 1);
  if (what == "elsewhere") {
    auto row = runtime::readExecutable(text, "row");
    if (!row) std::abort();
    row->device = "another machine";
    text = runtime::executableText(*row);
  }
  return text;
}

}  // namespace

bool playWorker(int argc, char** argv) {
  if (argc < 3 || std::strcmp(argv[1], "worker") != 0) return false;
  const std::string text = happened(std::filesystem::path(argv[0]).filename(), textOf(argv[2]));
  std::ofstream(argv[2], std::ios::binary | std::ios::trunc) << text;
  return true;
}

std::string workerCalled(const std::string& name, const std::string& folder) {
  const std::string path = folder + "/" + name;
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), path);
  return path;
}

}  // namespace tbem::test
