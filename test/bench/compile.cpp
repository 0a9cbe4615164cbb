// Milliseconds to the native code of a training step of ResNet-50 for an H200 that is not here: compiled anew (LLVM, PTX, and the
// card's own code where nvJitLink is there), taken from the cache of compiled objects, and loaded as a process that measures
// does.
#include "compiler/pipeline/Stages.h"
#include "compiler/run/State.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using namespace tbem;

constexpr const char* kProgram = R"(
import std.vision: resnet
import std.nn: cross_entropy, sgd
design d of resnet(depth: 50) {
  input image: [32, 3, 224, 224]
  task  train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))
}
)";

/// A folder of its own for compiled objects, gone with it.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / "bench_compile") { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

const estimate::Program& step() {
  static driver::Request request = [] {
    driver::Request made;
    made.program.text = kProgram;
    made.target.backend = "cuda";
    made.target.device = "h200";
    return made;
  }();
  static Events events;
  static driver::PipelineState state(request, events);
  static const bool kLowered = driver::runStages(state, "lower") && state.rows.size() == 1 && state.rows.front().program;
  if (!kLowered) throw std::runtime_error("the step cannot be planned");
  return *state.rows.front().program;
}

jit::JitOptions optionsOf(const Folder& folder) {
  jit::JitOptions options;
  options.cacheDir = folder.path.string();
  options.link = false;
  options.architecture = "sm_90";
  return options;
}

jit::Compiled compiled(const jit::JitOptions& options) {
  auto made = jit::compile(step(), options);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

void anew(benchmark::State& state) {
  const Folder folder;
  jit::JitOptions options = optionsOf(folder);
  options.cache = false;
  compiled(options);  // libraries are opened once
  while (state.KeepRunning()) benchmark::DoNotOptimize(compiled(options));
}

void kept(benchmark::State& state) {
  const Folder folder;
  const jit::JitOptions options = optionsOf(folder);
  compiled(options);
  while (state.KeepRunning()) {
    if (!compiled(options).cacheHit) throw std::runtime_error("it was compiled again");
  }
}

void loaded(benchmark::State& state) {
  const Folder folder;
  const std::string key = compiled(optionsOf(folder)).key;
  while (state.KeepRunning()) {
    auto code = jit::load(key, folder.path.string());
    if (!code || code->executable.machineCode.empty()) throw std::runtime_error("no code for a card was kept");
    benchmark::DoNotOptimize(code->step);
  }
}

BENCHMARK(anew)->Unit(benchmark::kMillisecond);
BENCHMARK(kept)->Unit(benchmark::kMillisecond);
BENCHMARK(loaded)->Unit(benchmark::kMillisecond);

}  // namespace
