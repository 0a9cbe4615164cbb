// A store of results: opened for reading, and for writing as `measure` does.
#include "runtime/store/Store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace tbem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("tbem-fuzz-" + std::to_string(getpid()) + ".tbemdb")).string();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const store::Mode mode : {store::Mode::ReadOnly, store::Mode::ReadWrite}) {
    auto opened = store::Store::open(path, mode, 0.1);
    if (!opened) continue;
    const auto designs = opened->designs();
    if (designs) {
      for (const std::string& design : *designs) (void)opened->results(design);
    }
    (void)opened->finished("identity");
    (void)opened->points("identity", store::Inputs::Read);
  }
  for (const char* end : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + end);
  return 0;
}
