// Milliseconds to the bounds of adaptive networks: the least and the most FLOPs that any input takes, from the parsed program to
// the numbers, in a process that has done it before. What a fresh process adds is its start and the standard library.
#include "compiler/count/Conventions.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/run/PlainRows.h"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

namespace {

using namespace tbem;

struct Network {
  const char* expression;
  const char* input;
};
constexpr Network kNetworks[] = {
    {"skipnet()", "image: [1, 3, 32, 32]"},
    {"skipnet(as_released: true)", "image: [1, 3, 32, 32]"},
    {"blockdrop()", "image: [1, 3, 32, 32]"},
    {"ranet()", "image: [1, 3, 32, 32]"},
    {"msdnet()", "image: [1, 3, 32, 32]"},
    {"sdn_resnet56(classes: 100)", "image: [1, 3, 32, 32]"},
    {"sdn_resnet56(classes: 200)", "image: [1, 3, 32, 32]"},
    {"sdn_mobilenet()", "image: [1, 3, 32, 32]"},
};

void bounds(benchmark::State& state) {
  const Network& network = kNetworks[state.range(0)];
  driver::Request request;
  request.program.text = std::string("import std.adaptive: blockdrop, msdnet, ranet, sdn_mobilenet, sdn_resnet56, skipnet\n") +
                         "design d of " + network.expression + " { input " + network.input + " }";
  Events events;
  driver::PipelineState program(request, events);
  if (!driver::runStages(program, "design")) throw std::runtime_error("the program has errors");
  driver::DesignRun& run = *program.designs.runs.front();
  const estimate::Convention& convention = *estimate::findConvention("deepperform");
  benchmark::IterationCount rows = 0;
  while (state.KeepRunning()) {
    run.experiment = driver::makeExperiment(*program.workspace, run.spec, request.target);
    driver::PlainRows plain(program.sink(), run, convention);
    if (!plain.check()) throw std::runtime_error("a condition is broken");
    plain.each(
        [&](std::size_t, const graph::Graph&, const estimate::Estimate& estimate) { rows += estimate.flops.gated ? 1 : 0; });
  }
  if (rows != state.iterations()) throw std::runtime_error("a row has no bounds");
  state.SetLabel(network.expression);
}
BENCHMARK(bounds)->DenseRange(0, std::size(kNetworks) - 1)->Unit(benchmark::kMillisecond);

}  // namespace
