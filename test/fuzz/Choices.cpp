// Files of algorithms' times: as they are, and with a checksum that agrees.
#include "compiler/backends/ChoicesFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  estimate::Choices choices;
  (void)driver::parseChoices(bytes, "device", choices);
  choices.clear();
  if (!driver::parseChoices(driver::sealChoices(bytes), "device", choices)) return 0;
  // What was read can be written, and reads back with the same choices.
  estimate::Choices again;
  if (!driver::parseChoices(driver::choicesText("device", choices), "device", again) || again.size() != choices.size())
    __builtin_trap();
  for (const auto& [key, choice] : choices) {
    if (again.at(key).algorithm != choice.algorithm || again.at(key).seconds.size() != choice.seconds.size()) __builtin_trap();
  }
  return 0;
}
