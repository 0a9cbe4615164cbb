#include "test/prop/stdlib/Trial.h"

#include "compiler/jit/glue/Jit.h"
#include "compiler/lower/Lower.h"
#include "runtime/core/Executable.h"
#include "test/unit/graph/Fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::test {
namespace {

constexpr const char* kProbes = R"(
operator probe_real(y: tensor[..s]) -> (sum_of: tensor[])
  weight factor: tensor[..s] init ones
{
  return sum(y * factor, axis: [i for i in 0 .. len(s)])
}
operator number_of_bool(y: bool[..s]) -> (x: tensor[..s])
  elementwise x = if y then 1 else 0
operator number_of_whole(y: i64[..s]) -> (x: tensor[..s])
  elementwise x = y + 0
operator probe_bool(y: bool[..s]) -> (sum_of: tensor[]) { return probe_real(number_of_bool(y)) }
operator probe_whole(y: i64[..s]) -> (sum_of: tensor[]) { return probe_real(number_of_whole(y)) }
operator whole_loss(output: tensor[], target: tensor[]) -> (loss: tensor[])
  elementwise loss = output + target
  backward    output: dloss
operator stay(w: tensor[..s], g: tensor[..s])
  updates w: w
)";

std::string nameOf(std::size_t one, std::size_t tensor) { return fmt::format("x{}_{}", one, tensor); }

/// Only what is differentiated is a weight.
bool isWeight(const Case& one, const Given& given) { return one.gradient && given.floating(); }

const char* typeOf(const Given& given) {
  return given.kind == Given::Kind::Whole ? "i64" : given.kind == Given::Kind::Truth ? "bool" : "tensor";
}

/// The call with its tensors' names.
std::string callText(const Case& one, std::size_t number) {
  std::string text;
  for (std::size_t i = 0; i < one.call.size(); ++i) {
    if (one.call[i] == '%' && i + 1 < one.call.size() && one.call[i + 1] >= '0' && one.call[i + 1] <= '9')
      text += nameOf(number, static_cast<std::size_t>(one.call[++i] - '0'));
    else
      text += one.call[i];
  }
  return text;
}

std::string optimizerProgram(const Case& one) {
  return fmt::format(
      "network cases(x: tensor[n, f]) -> tensor[n, k]\n{{\n  return x |> dense(24) |> tanh |> dense(3, use_bias: false)\n}}\n"
      "design d of cases {{\n  input x: [6, 5]\n  task train(loss: mse, optimizer: {})\n}}\n",
      one.optimizer);
}

double valueOf(const Given& given, Dice& dice) {
  switch (given.kind) {
    case Given::Kind::Positive:
      return 0.25 + std::fabs(dice.normal());
    case Given::Kind::Share:
      return 0.05 + 0.9 * dice.uniform();
    case Given::Kind::Whole:
      return static_cast<double>(dice.integer(0, given.bound - 1));
    case Given::Kind::Truth:
      return dice.coin() ? 1 : 0;
    case Given::Kind::Normal:
      break;
  }
  while (true) {
    const double value = dice.normal();
    if (std::none_of(given.kinks.begin(), given.kinks.end(), [&](double k) { return std::fabs(value - k) < 0.05; })) return value;
  }
}

std::vector<double> valuesOf(const Given& given, Dice& dice) {
  std::vector<double> values;
  for (std::int64_t i = product(given.dims); i > 0; --i)
    values.push_back(static_cast<double>(static_cast<float>(valueOf(given, dice))));
  return values;
}

}  // namespace

std::string programOf(std::span<const Case> cases) {
  if (!cases.front().optimizer.empty()) return optimizerProgram(cases.front());
  std::string tensors = "k: tensor[1]", weights, calls, inputs = "  input k: [1]\n";
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Case& one = cases[c];
    for (std::size_t t = 0; t < one.tensors.size(); ++t) {
      const Given& given = one.tensors[t];
      if (isWeight(one, given)) {
        weights += fmt::format("  weight {}: tensor{} init zeros\n", nameOf(c, t), listText(given.dims));
        continue;
      }
      tensors += fmt::format(", {}: {}{}", nameOf(c, t), typeOf(given), listText(given.dims));
      inputs += fmt::format("  input {}: {}\n", nameOf(c, t), listText(given.dims));
    }
    calls += fmt::format("  let y{} = {}\n", c, callText(one, c));
    for (int r = 0; r < one.results; ++r)
      calls += fmt::format("  total = total + probe_{}(y{}{})\n", one.result, c, one.results > 1 ? fmt::format("[{}]", r) : "");
  }
  return fmt::format(
      "{}network cases({}) -> tensor[]\n{{\n{}  var total = sum(k, axis: 0)\n{}  return total\n}}\ndesign d of cases {{\n{}  "
      "task "
      "train(loss: whole_loss, optimizer: stay())\n}}\n",
      kProbes, tensors, weights, calls, inputs);
}

struct Trial::Impl {
  std::unique_ptr<Built> built;
  jit::Compiled compiled;
  std::unique_ptr<runtime::Instance> instance;
  std::vector<std::vector<double>> inputs;  ///< by storage; empty: not an input
  std::vector<std::uint32_t> storageOf;     ///< by leaf
  std::vector<std::uint32_t> gradientOf;    ///< by leaf; kNone: it has none
  int steps = 1;

  std::string prepare(std::span<const Case> cases, const TrialOptions& options);
  void values(std::span<const Case> cases, std::uint64_t seed, std::vector<Leaf>& leaves);
  std::string write(std::uint32_t storage, const std::vector<double>& values) const;
};

std::string Trial::Impl::prepare(std::span<const Case> cases, const TrialOptions& options) {
  steps = options.steps;
  const std::string text = programOf(cases);
  built = std::make_unique<Built>(text, graph::ExperimentOptions{options.reference ? TBEM_F64 : TBEM_F32});
  const std::optional<graph::Row> row = built->row();
  if (!row) return built->errors() + "\n" + text;
  const tbem_backend& backend = options.reference ? *tbem_backend_ref() : *tbem_backend_cpu();
  estimate::LowerOptions lower;
  lower.threads = options.reference ? 1 : 2;
  lower.keepGradients = true;
  auto program = estimate::lower(row->graph(), row->values, backend, lower);
  if (!program) {
    DiagnosticSink sink;
    return program.error().report(sink).message + "\n" + text;
  }
  auto made = jit::compile(*program, {});
  if (!made) return made.error().message + "\n" + text;
  compiled = std::move(*made);
  if (const auto described = jit::describeStorages(*program, row->graph(), row->values, compiled.executable); !described)
    return described.error() + "\n" + text;
  auto running = runtime::Instance::create(compiled.executable, backend, {.poison = true, .guard = 4096});
  if (!running) return running.error().message + "\n" + text;
  instance = std::move(*running);
  return {};
}

void Trial::Impl::values(std::span<const Case> cases, std::uint64_t seed, std::vector<Leaf>& leaves) {
  Dice dice(seed);
  std::map<std::string, std::vector<double>> given;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    for (std::size_t t = 0; t < cases[c].tensors.size(); ++t) given[nameOf(c, t)] = valuesOf(cases[c].tensors[t], dice);
  }
  const auto& storages = compiled.executable.storages;
  inputs.resize(storages.size());
  std::map<std::string, std::uint32_t> gradients;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (storages[s].kind == runtime::BufferClass::Gradient) gradients[storages[s].path] = s;
  }
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    const runtime::StorageDesc& storage = storages[s];
    const bool weight = storage.kind == runtime::BufferClass::Weight;
    if (!weight && storage.kind != runtime::BufferClass::Input) continue;
    const tbem_operand& operand = compiled.executable.buffers[storage.buffer].operand;
    const auto known = given.find(storage.path);
    const std::vector<double> made = known != given.end()
                                         ? known->second
                                         : valuesOf({Given::Kind::Normal, Dims(operand.dims, operand.dims + operand.rank)}, dice);
    if (!weight) {
      inputs[s] = made;
      continue;
    }
    leaves.push_back({storage.path, made, {}, storage.path.ends_with(".factor")});
    storageOf.push_back(s);
    const auto gradient = gradients.find(storage.path);
    gradientOf.push_back(gradient != gradients.end() ? gradient->second : runtime::kNone);
  }
}

std::string Trial::Impl::write(std::uint32_t storage, const std::vector<double>& values) const {
  const tbem_operand& operand = compiled.executable.buffers[compiled.executable.storages[storage].buffer].operand;
  const auto done = instance->writeStorage(
      storage,
      runtime::HostTensor::of(operand.dtype, std::vector<std::int64_t>(operand.dims, operand.dims + operand.rank), values));
  return done ? std::string() : done.error().message;
}

Trial::Trial(std::span<const Case> cases, std::uint64_t seed, const TrialOptions& options) : impl(std::make_unique<Impl>()) {
  error = impl->prepare(cases, options);
  if (!error.empty()) return;
  impl->values(cases, seed, leaves);
}

Trial::~Trial() = default;

bool Trial::run(double& loss) {
  if (const auto ready = impl->instance->initialise(7); !ready) error = ready.error().message;
  for (std::uint32_t s = 0; error.empty() && s < impl->inputs.size(); ++s) {
    if (!impl->inputs[s].empty()) error = impl->write(s, impl->inputs[s]);
  }
  for (std::size_t i = 0; error.empty() && i < leaves.size(); ++i) error = impl->write(impl->storageOf[i], leaves[i].value);
  for (int step = 1; error.empty() && step <= impl->steps; ++step) {
    if (const auto done = impl->instance->run(static_cast<std::uint64_t>(step)); !done) error = done.error().message;
  }
  if (!error.empty()) return false;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (impl->gradientOf[i] == runtime::kNone) continue;
    const auto read = impl->instance->readStorage(impl->gradientOf[i]);
    if (!read) return error = read.error().message, false;
    leaves[i].gradient = read->doubles();
  }
  const auto read = impl->instance->read(impl->compiled.executable.loss);
  if (!read) return error = read.error().message, false;
  loss = read->doubles().front();
  return true;
}

std::vector<std::pair<std::string, std::vector<double>>> Trial::persistent() const {
  std::vector<std::pair<std::string, std::vector<double>>> all;
  const auto& storages = impl->compiled.executable.storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (storages[s].kind != runtime::BufferClass::Weight && storages[s].kind != runtime::BufferClass::State) continue;
    if (const auto read = impl->instance->readStorage(s)) all.emplace_back(storages[s].path, read->doubles());
  }
  return all;
}

}  // namespace tbem::test
