// Checkpoints of a training.
#include "runtime/train/Checkpoint.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem;
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("tbem-fuzz-" + std::to_string(getpid()) + ".safetensors")).string();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const auto read = train::readCheckpoint(path)) {
    // What was read can be written, and is then the same.
    if (!train::writeCheckpoint(path, **read)) __builtin_trap();
    const auto again = train::readCheckpoint(path);
    if (!again || (*again)->progress.step != (*read)->progress.step || (*again)->identity != (*read)->identity ||
        (*again)->now.entries.size() != (*read)->now.entries.size() ||
        (*again)->best.entries.size() != (*read)->best.entries.size())
      __builtin_trap();
  }
  std::filesystem::remove(path);
  return 0;
}
