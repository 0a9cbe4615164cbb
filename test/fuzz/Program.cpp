// Programs as far as their graphs: names, designs, elaboration of every row, gradients.
#include "compiler/driver/Pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tbem::driver::Options options;
  options.command = "check";
  options.text = std::string(reinterpret_cast<const char*>(data), size);
  tbem::Events events;
  tbem::driver::State state(options, events);
  static_cast<void>(tbem::driver::runStages(state, "graph"));
  return 0;
}
