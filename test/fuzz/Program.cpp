// Programs as far as their graphs: names, designs, elaboration of every row, gradients.
#include "compiler/pipeline/Stages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tbem::driver::Request request;
  request.program.text = std::string(reinterpret_cast<const char*>(data), size);
  tbem::Events events;
  tbem::driver::PipelineState state(request, events);
  static_cast<void>(tbem::driver::runStages(state, "graph"));
  return 0;
}
