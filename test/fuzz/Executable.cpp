// Executables that a campaign hands to its workers: as they are, and with a checksum that agrees. What is read can be written,
// and reads back as the same.
#include "runtime/core/ExecutableFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::runtime;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)readExecutable(bytes, "row.run");
  const auto file = readExecutable(sealExecutable(bytes), "row.run");
  if (!file) {
    if (file.error().find("expected") == std::string::npos) __builtin_trap();
    return 0;
  }
  const std::string text = executableText(*file);
  const auto again = readExecutable(text, "row.run");
  if (!again || executableText(*again) != text) __builtin_trap();
  return 0;
}
