// Timing the algorithms of an operator, once a machine.
//
// Candidates run in turn on the same numbers, so that what disturbs the machine disturbs all of them; a candidate's least time
// counts, for what disturbs only adds. Caches are cold, as they are in a step. A candidate that wants an input in another layout
// than where the value lies pays for the reorder.
#include "compiler/backends/Algorithms.h"
#include "compiler/count/Layout.h"
#include "runtime/core/Layout.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace tbem::driver {

namespace {

constexpr int kRounds = 8;         ///< the first warms up
constexpr double kHopeless = 1.5;  ///< so many times as long as the default in two rounds: not run again

using Operands = std::vector<tbem_operand>;

/// A prepared operator with operands and workspace of its own.
class Prepared {
public:
  Prepared(const tbem_backend& backend) : backend(backend) {}
  ~Prepared() {
    if (op != nullptr) backend.destroy(op);
    for (const auto& [memory, bytes] : owned) backend.release(memory, bytes);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  tbem_status make(tbem_op_desc desc, std::uint64_t workspaceBytes) {
    if (const tbem_status status = backend.create(&desc, &op)) {
      op = nullptr;
      return status;
    }
    for (int k = 0; k < desc.inputs + desc.outputs; ++k) {
      void* place = nullptr;
      if (desc.operands[k].present != 0) {
        if (const tbem_status status = allocate(desc.operands[k].layout.bytes, k < desc.inputs, place)) return status;
      }
      places.push_back(place);
    }
    return workspaceBytes == 0 ? TBEM_OK : allocate(workspaceBytes, false, workspace);
  }

  tbem_status run() { return backend.run(op, places.data(), workspace, nullptr); }

private:
  /// Inputs are small numbers of both signs: neither zeros, which some kernels skip, nor denormals, which are slow.
  tbem_status allocate(std::uint64_t bytes, bool input, void*& place) {
    if (const tbem_status status = backend.allocate(bytes, &place)) return status;
    owned.emplace_back(place, bytes);
    std::vector<float> values(bytes / sizeof(float), 0);
    if (input) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 101) / 50.0F - 1.0F;
    }
    return backend.copy_in(place, values.data(), values.size() * sizeof(float));
  }

  const tbem_backend& backend;
  tbem_op* op = nullptr;
  std::vector<std::pair<void*, std::uint64_t>> owned;
  std::vector<void*> places;
  void* workspace = nullptr;
};

/// One algorithm of one operator: the reorders that it needs, then itself.
struct Candidate {
  std::vector<std::unique_ptr<Prepared>> parts;
  std::vector<double> samples;
  double least() const { return *std::min_element(samples.begin(), samples.end()); }
};

/// Other values push those of an operator out of the caches. (On warm ones a product that packs its operands looks good, which in
/// a step it is not.)
class Elsewhere {
public:
  Elsewhere(const tbem_backend& backend, int threads) : backend(backend), threads(threads) {
    if (backend.device == nullptr)
      words.resize(kHostBytes / sizeof(std::uint64_t));
    else if (backend.allocate(kDeviceBytes, &memory) != TBEM_OK)
      memory = nullptr;  // a card that is full: on warm caches then
  }
  ~Elsewhere() {
    if (memory != nullptr) backend.release(memory, kDeviceBytes);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

  tbem_status touch() {
    if (memory != nullptr) return backend.device->zero(memory, kDeviceBytes);
    const auto add = [](void* context, std::int64_t begin, std::int64_t end) {
      auto* const all = static_cast<std::uint64_t*>(context);
      for (std::int64_t i = begin; i < end; ++i) ++all[i];
    };
    if (!words.empty()) backend.parallel(threads, add, words.data(), static_cast<std::int64_t>(words.size()));
    return TBEM_OK;
  }

private:
  static constexpr std::uint64_t kHostBytes = std::uint64_t{32} << 20U;
  static constexpr std::uint64_t kDeviceBytes = std::uint64_t{128} << 20U;  ///< more than any card's cache
  const tbem_backend& backend;
  int threads;
  std::vector<std::uint64_t> words;
  void* memory = nullptr;
};

class Tuner {
public:
  Tuner(const estimate::Program& program, const tbem_backend& backend)
      : program(program), backend(backend), elsewhere(backend, program.threads) {}

  /// Seconds by algorithm; negative where it is not there.
  tl::expected<std::vector<double>, std::string> time(const estimate::NativeCall& call) {
    std::vector<Candidate> candidates(TBEM_MAX_ALGORITHMS);
    const Operands homes = homesOf(call);
    for (std::int32_t k = 0; k < TBEM_MAX_ALGORITHMS; ++k) {
      if (!prepare(call, homes, k, candidates[static_cast<std::size_t>(k)]) && k == 0)
        return tl::unexpected(fmt::format("{}: {}", call.choice, backend.last_error()));
    }
    for (int round = 0; round < kRounds; ++round) {
      for (Candidate& candidate : candidates) {
        if (candidate.parts.empty()) continue;
        const auto seconds = timeOnce(candidate);
        if (!seconds) return tl::unexpected(fmt::format("{}: {}", call.choice, backend.last_error()));
        if (round == 0) continue;
        candidate.samples.push_back(*seconds);
        if (round == 2 && candidate.least() > kHopeless * candidates[0].least()) candidate.parts.clear();
      }
    }
    std::vector<double> seconds;
    seconds.reserve(candidates.size());
    for (const Candidate& candidate : candidates) seconds.push_back(candidate.samples.empty() ? -1 : candidate.least());
    while (seconds.back() < 0) seconds.pop_back();
    return seconds;
  }

private:
  /// Nothing where the backend fails; last_error says why.
  std::optional<double> timeOnce(const Candidate& candidate) {
    if (elsewhere.touch() != TBEM_OK || backend.synchronize() != TBEM_OK) return std::nullopt;
    const double start = measure::monotonicSeconds();
    for (const auto& part : candidate.parts) {
      if (part->run() != TBEM_OK) return std::nullopt;
    }
    if (backend.synchronize() != TBEM_OK) return std::nullopt;
    return measure::monotonicSeconds() - start;
  }

  /// Where each input lies before the call: before a reorder that lowering put in front of it.
  Operands homesOf(const estimate::NativeCall& call) const {
    Operands homes;
    for (const estimate::BufferId id : call.operands)
      homes.push_back(id == estimate::kNoBuffer ? tbem_operand{} : program[id].operand);
    for (const estimate::NativeCall& other : program.calls) {
      if (other.primitive != TBEM_PRIMITIVE_reorder) continue;
      for (std::size_t k = 0; k < call.inputs; ++k) {
        if (call.operands[k] == other.operands[1]) homes[k] = program[other.operands[0]].operand;
      }
    }
    return homes;
  }

  tbem_op_desc describe(const estimate::NativeCall& call, Operands& operands, std::int32_t algorithm) const {
    tbem_op_desc desc{};
    desc.size = sizeof desc;
    desc.primitive = call.primitive;
    desc.inputs = static_cast<std::int32_t>(call.inputs);
    desc.outputs = static_cast<std::int32_t>(call.operands.size() - call.inputs);
    desc.operands = operands.data();
    desc.attributes = call.attributes.data();
    desc.attribute_count = static_cast<std::int32_t>(call.attributes.size());
    desc.threads = program.threads;
    desc.algorithm = algorithm;
    desc.tf32 = program.tf32 ? 1 : 0;
    return desc;
  }

  /// The algorithm on the values where they lie; else in the layouts that it asks for. False where it is not there.
  bool prepare(const estimate::NativeCall& call, const Operands& homes, std::int32_t algorithm, Candidate& candidate) const {
    for (const bool open : {false, true}) {
      Operands operands = homes;
      for (tbem_operand& operand : operands) {
        if (open && operand.present != 0 && operand.rank >= 2) operand.layout = {.any = 1};
      }
      tbem_op_desc desc = describe(call, operands, algorithm);
      tbem_op_info info{};
      if (backend.query(&desc, &info) != TBEM_OK) continue;
      for (std::size_t k = 0; k < call.inputs; ++k) {
        if (homes[k].present != 0 && !estimate::samePlaces(homes[k], operands[k]) &&
            !addReorder(homes[k], operands[k], candidate))
          return false;
      }
      auto made = std::make_unique<Prepared>(backend);
      if (made->make(desc, info.workspace) != TBEM_OK) break;
      candidate.parts.push_back(std::move(made));
      return true;
    }
    candidate.parts.clear();
    return false;
  }

  bool addReorder(const tbem_operand& from, const tbem_operand& to, Candidate& candidate) const {
    Operands operands = {from, to};
    tbem_op_desc desc{};
    desc.size = sizeof desc;
    desc.primitive = TBEM_PRIMITIVE_reorder;
    desc.inputs = desc.outputs = 1;
    desc.operands = operands.data();
    desc.threads = program.threads;
    tbem_op_info info{};
    auto made = std::make_unique<Prepared>(backend);
    if (backend.query(&desc, &info) != TBEM_OK || made->make(desc, info.workspace) != TBEM_OK) return false;
    candidate.parts.push_back(std::move(made));
    return true;
  }

  const estimate::Program& program;
  const tbem_backend& backend;
  Elsewhere elsewhere;
};

}  // namespace

tl::expected<bool, std::string> tune(const estimate::Program& program, Opened& opened, Events& events) {
  std::map<std::string, const estimate::NativeCall*> wanted;
  for (const estimate::NativeCall& call : program.calls) {
    if (call.assumed) wanted.emplace(call.choice, &call);
  }
  if (wanted.empty()) return false;
  const double start = measure::monotonicSeconds();
  Tuner tuner(program, *opened.backend);
  estimate::Choices fresh;
  for (const auto& [key, call] : wanted) {
    auto seconds = tuner.time(*call);
    if (!seconds) return tl::unexpected(seconds.error());
    fresh.emplace(key, estimate::chooseAlgorithm(std::move(*seconds)));
  }
  auto kept = addChoices(opened.backend->name, opened.device, fresh);
  if (!kept) {
    events.note(fmt::format("the default algorithms run, for timings of others cannot be kept: {}", kept.error()));
    return false;
  }
  opened.choices = std::move(*kept);
  events.note(
      fmt::format("algorithms of {} operators timed in {}", fresh.size(), report::seconds(measure::monotonicSeconds() - start)));
  return true;
}

}  // namespace tbem::driver
