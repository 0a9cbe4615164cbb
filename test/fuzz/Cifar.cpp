// A file of CIFAR-100's records.
#include "runtime/data/Dataset.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace tbem::data;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tbem-fuzz-cifar-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"train.bin", "test.bin"})
    std::ofstream(folder / name, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const Settings settings{{{"folder", folder.string()},
                           {"labels", std::string("fine")},
                           {"size", std::int64_t{4}},
                           {"channels", std::int64_t{1}},
                           {"mean", std::vector<double>{}},
                           {"std", std::vector<double>{}}},
                          {}};
  if (const auto opened = findReader("cifar100")->open(settings)) {
    const std::int64_t last = (*opened)->description().train - 1;
    float image[16];
    std::int64_t label = 0;
    const auto done = (*opened)->read(Split::Train, std::span(&last, 1), {{image}, &label, nullptr});
    if (done && (label < 0 || label > 99)) __builtin_trap();
  }
  std::filesystem::remove_all(folder);
  return 0;
}
