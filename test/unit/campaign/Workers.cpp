#include "test/unit/campaign/Workers.h"

#include "compiler/worker/Worker.h"
#include "runtime/core/ExecutableFile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

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

std::optional<int> playWorker(const std::vector<std::string>& command) {
  if (command.size() != 4) return std::nullopt;
  const std::string text = happened(std::filesystem::path(command[0]).filename(), textOf(command[1]));
  std::ofstream(command[1], std::ios::binary | std::ios::trunc) << text;
  const driver::WorkerAnswer answer = driver::answerAsWorker(command);
  std::cout << answer.line << std::endl;
  return answer.status;
}

std::string workerCalled(const std::string& name, const std::string& folder) {
  const std::string path = folder + "/" + name;
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), path);
  return path;
}

}  // namespace tbem::test
