// How many plain estimates a second one core makes of rows of one structure: parameters, FLOPs by phase and operator, memory by
// kind, the largest live sum and its moment. `formulas`: native code for many rows; `exact`: row by row; `compile`: what the code
// costs once; `lowering`: what one row's program costs, once the backend has answered.
#include "compiler/estimate/Formulas.h"
#include "compiler/jit/rows/RowKernel.h"
#include "compiler/lower/Lower.h"
#include "compiler/pipeline/Stages.h"

#include <benchmark/benchmark.h>

#include <random>
#include <stdexcept>

namespace {

using namespace tbem;

struct Network {
  const char* name;
  const char* expression;
  const char* input;
};
constexpr Network kNetworks[] = {{"small_vgg", "small_vgg(depth: 16, width: width)", "[batch, 3, 32, 32]"},
                                 {"resnet18", "resnet(depth: 18)", "[batch, 3, 32 * width, 224]"},
                                 {"resnet50", "resnet(depth: 50)", "[batch, 3, 32 * width, 224]"},
                                 {"densenet121", "densenet()", "[batch, 3, 32 * width, 224]"}};

/// A training step with two symbols.
struct Fixture {
  explicit Fixture(const Network& network) : state(request, events) {
    request.program.text = std::string("import std.vision: densenet, resnet, small_vgg\ndesign d of ") + network.expression +
                           " { factor batch: 1..64\n factor width: 4..64\n input image: " + network.input +
                           "\n task train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9)) }";
    state.firstRowOnly = true;
    if (!driver::runStages(state, "graph")) throw std::runtime_error("the program has errors");
    row = &*state.rows.front().elaborated;
    std::mt19937 random(1);
    for (int i = 0; i < 4096; ++i) {
      levels.push_back(std::uniform_int_distribution<>(1, 64)(random));
      levels.push_back(std::uniform_int_distribution<>(4, 64)(random));
    }
  }
  driver::Request request;
  Events events;
  driver::PipelineState state;
  const graph::Row* row = nullptr;
  std::vector<double> levels;
};

estimate::Formulas formulasOf(const Fixture& fixture) {
  return *estimate::formulasOf(*fixture.row->structure, {false, false}, estimate::conventions().front());
}

void perSecond(benchmark::State& state, double rows) {
  state.counters["estimates"] = benchmark::Counter(rows, benchmark::Counter::kIsIterationInvariantRate);
}

void formulas(benchmark::State& state) {
  const Fixture fixture(kNetworks[state.range(0)]);
  const estimate::Formulas made = formulasOf(fixture);
  const auto kernel = jit::compileRows(made.pool, made.roots);
  if (!kernel) throw std::runtime_error(kernel.error().message);
  const std::size_t rows = fixture.levels.size() / 2;
  double sum = 0;
  std::size_t none = 0;
  for (auto _ : state) {
    const jit::RowValues values = kernel->evaluate(fixture.levels);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto estimate = estimate::estimateAt(made, fixture.row->graph(), values.row(r));
      none += !estimate || !values.certain[r];
      if (estimate) sum += static_cast<double>(estimate->memory.bytes);
    }
  }
  benchmark::DoNotOptimize(sum);
  state.SetLabel(kNetworks[state.range(0)].name);
  state.counters["left_open"] = static_cast<double>(none);
  perSecond(state, static_cast<double>(rows));
}
BENCHMARK(formulas)->DenseRange(0, std::size(kNetworks) - 1);

void exact(benchmark::State& state) {
  const Fixture fixture(kNetworks[state.range(0)]);
  const sema::ExprPool& pool = fixture.row->structure->pool;
  const estimate::StaticOrder order = estimate::staticOrder(fixture.row->graph());
  std::size_t next = 0;
  for (auto _ : state) {
    const auto level = [&](std::size_t s) { return Rational::of(static_cast<std::int64_t>(fixture.levels[next + s])); };
    const sema::Values values = pool.evaluate(std::vector<std::optional<Rational>>{level(0), level(1)});
    benchmark::DoNotOptimize(estimate::estimateRow(fixture.row->graph(), values, nullptr, order));
    next = (next + 2) % fixture.levels.size();
  }
  state.SetLabel(kNetworks[state.range(0)].name);
  perSecond(state, 1);
}
BENCHMARK(exact)->DenseRange(0, std::size(kNetworks) - 1);

void compile(benchmark::State& state) {
  const Fixture fixture(kNetworks[state.range(0)]);
  for (auto _ : state) {
    const estimate::Formulas made = formulasOf(fixture);
    benchmark::DoNotOptimize(jit::compileRows(made.pool, made.roots));
  }
  state.SetLabel(kNetworks[state.range(0)].name);
}
BENCHMARK(compile)->DenseRange(0, std::size(kNetworks) - 1)->Unit(benchmark::kMillisecond);

void lowering(benchmark::State& state) {
  const Fixture fixture(kNetworks[state.range(0)]);
  const auto level = [&](std::size_t s) { return Rational::of(static_cast<std::int64_t>(fixture.levels[s])); };
  const sema::Values values = fixture.row->structure->pool.evaluate(std::vector<std::optional<Rational>>{level(0), level(1)});
  estimate::QueryCache cache;
  for (auto _ : state)
    benchmark::DoNotOptimize(estimate::lower(fixture.row->graph(), values, *tbem_backend_cpu(), {.cache = &cache}));
  state.SetLabel(kNetworks[state.range(0)].name);
}
BENCHMARK(lowering)->DenseRange(0, std::size(kNetworks) - 1)->Unit(benchmark::kMillisecond);

}  // namespace
