// How fast the caching allocator replays a history: training steps of ResNet-50, batch 32, as PyTorch allocates them
// (resnet50_steps.txt, written by test/pytorch/allocator/record_step.py): the first from an empty allocator on, or three.
#include "compiler/pytorch/allocator/CachingAllocator.h"
#include "test/SourceTree.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

namespace {

using namespace tbem::estimate;

std::vector<AllocatorEvent> readSteps() {
  std::ifstream file(tbem::test::inSources("test/bench/resnet50_steps.txt"));
  std::vector<AllocatorEvent> events;
  std::uint32_t made = 0;
  for (std::string line; std::getline(file, line);) {
    AllocatorEvent event;
    if (line.front() == '+') {
      event.id = made++;
      event.bytes = std::stoull(line.substr(1));
    } else {
      event.kind = AllocatorEvent::Kind::Free;
      event.id = static_cast<std::uint32_t>(std::stoul(line.substr(1)));
    }
    events.push_back(event);
  }
  return events;
}

/// Of one step: what record_step.py writes for one is the beginning of what it writes for three.
constexpr std::size_t kFirstStep = 1433;

void replaySteps(benchmark::State& state, const char* options) {
  std::vector<AllocatorEvent> events = readSteps();
  if (state.range(0) == 1) events.resize(kFirstStep);
  const AllocatorOptions read = *parseAllocatorOptions(options);
  std::uint64_t reserved = 0;
  for (auto _ : state) reserved = replay(events, read, {}).statistics.reserved.peak;
  state.counters["replays"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["events"] = static_cast<double>(events.size());
  state.counters["reserved_MiB"] = static_cast<double>(reserved >> 20U);
}
BENCHMARK_CAPTURE(replaySteps, default, "")->ArgName("steps")->Arg(1)->Arg(3);
BENCHMARK_CAPTURE(replaySteps, expandable, "expandable_segments:True")->ArgName("steps")->Arg(1)->Arg(3);
BENCHMARK_CAPTURE(replaySteps, divisions, "roundup_power2_divisions:8,max_split_size_mb:128")->ArgName("steps")->Arg(1)->Arg(3);

}  // namespace
