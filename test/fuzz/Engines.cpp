// Files of cuDNN's answers: as they are, and with a checksum that agrees.
#include "compiler/devices/EnginesFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)driver::parseEngines(bytes, "asked");
  const auto answers = driver::parseEngines(driver::sealEngines(bytes), "asked");
  if (!answers) return 0;
  // What was read can be written, and reads back the same.
  const auto again = driver::parseEngines(driver::enginesText("asked", *answers), "asked");
  if (!again || again->lists != answers->lists || again->version != answers->version) __builtin_trap();
  return 0;
}
