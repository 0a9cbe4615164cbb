// What a worker process tells its parent: a line of JSON.
#include "runtime/measure/Child.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = tbem::measure::parseMeasurement(std::string(reinterpret_cast<const char*>(data), size));
  if (!value) return 0;
  // What was read can be written, and is then the same text.
  const std::string text = tbem::measure::toJson(*value);
  const auto again = tbem::measure::parseMeasurement(text);
  if (!again || tbem::measure::toJson(*again) != text) __builtin_trap();
  return 0;
}
