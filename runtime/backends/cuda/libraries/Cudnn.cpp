#include "runtime/backends/cuda/libraries/Cudnn.h"

#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/core/Layout.h"
#include "runtime/cudnn/Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tbem::cuda {

namespace {

/// What is ready to run, and how many operators use it.
struct UsedPlan {
  cudnn::Plan plan;
  std::size_t users = 0;
};

struct Cudnn {
  std::mutex mutex;
  std::string properties;
  std::optional<tl::expected<cudnn::Library, std::string>> library;  ///< nothing: not looked for yet
  std::optional<tl::expected<cudnn::Card, std::string>> card;        ///< nothing: not opened yet
  cudnn::Answerer answerer;                                          ///< about what is described; may be empty
  std::optional<cudnn::Device> described;
  std::map<std::string, std::vector<cudnn::Engine>, std::less<>> known;  ///< by the problem's line
  std::map<std::string, UsedPlan, std::less<>> plans;                    ///< by problem and engine
};

/// Never destroyed: when a process ends, the driver may be gone before.
Cudnn& shared() {
  static auto* const all = new Cudnn;
  return *all;
}

tl::expected<cudnn::Library, std::string> openCudnn() {
  (void)cudnn::openLibcuda(cudnn::libcudaStubs());
  const auto path = cudnn::findLibrary("", cudnn::cudnnPlaces(false));
  if (path) return cudnn::openLibrary(*path);
  auto named = cudnn::openLibrary("libcudnn.so.9");  // where the system's loader finds it
  if (!named) return tl::unexpected(path.error() + "; cuDNN 9.8 or later is needed");
  return named;
}

const tl::expected<cudnn::Library, std::string>& libraryOf(Cudnn& cudnn) {
  if (!cudnn.library) cudnn.library = openCudnn();
  return *cudnn.library;
}

/// Opens the card for cuDNN, or the device that was described. "" or why there is nobody to ask.
std::string open(Cudnn& cudnn) {
  if ((cudnn.card && *cudnn.card) || cudnn.described) return {};
  if (cudnn.card) return cudnn.card->error();
  const auto device = openDevice();
  if (!device && cudnn.properties.empty())
    return fmt::format("{}; cuDNN can be asked about a card that is not here where a device is named", device.error());
  const auto& library = libraryOf(cudnn);
  if (!library) return library.error();
  if (device) {
    const Booking booking(**device, &Ledger::handles);
    cudnn.card = cudnn::Card::make(*library, (*device)->stream);
    return *cudnn.card ? std::string() : cudnn.card->error();
  }
  auto described = cudnn::Device::make(*library, cudnn.properties);
  if (!described) return described.error();
  cudnn.described.emplace(std::move(*described));
  return {};
}

/// Whether others than cuDNN are asked: about a device that is not here.
bool othersAnswer(const Cudnn& cudnn) { return cudnn.answerer.engines && !openDevice(); }

tl::expected<std::vector<cudnn::Engine>, std::string> answer(Cudnn& cudnn, const cudnn::Problem& problem, cudnn::List list) {
  if (othersAnswer(cudnn)) return cudnn.answerer.engines(problem, list);
  if (const std::string why = open(cudnn); !why.empty()) return tl::unexpected(why);
  return cudnn.described ? cudnn.described->engines(problem, list) : (*cudnn.card)->engines(problem, list);
}

tl::expected<std::vector<cudnn::Engine>, std::string> ask(Cudnn& cudnn, const Asked& asked, cudnn::List list) {
  auto engines = answer(cudnn, asked.problem, list);
  if (!engines) return engines;
  const cudnn::Policy policy{.tf32 = asked.tf32, .nondeterministic = false};
  std::erase_if(*engines, [&](const cudnn::Engine& engine) { return !cudnn::mayTake(asked.problem, engine, policy); });
  return engines;
}

std::string planKey(const cudnn::Problem& problem, const cudnn::Engine& engine) {
  return fmt::format("{} engine {} {} knobs {}", cudnn::describe(problem), engine.index, engine.workspace,
                     fmt::join(engine.knobs, ","));
}

/// Before the line that describes it.
const char* kindOf(const cudnn::Problem& problem) {
  return std::holds_alternative<cudnn::Convolution>(problem) ? "the convolution" : "the";
}

tl::expected<std::vector<cudnn::Engine>, std::string> enginesOf(Cudnn& cudnn, const Asked& asked) {
  const std::string line = cudnn::describe(asked.problem) + (asked.tf32 ? " tf32" : "");
  if (const auto known = cudnn.known.find(line); known != cudnn.known.end()) return known->second;
  for (const cudnn::List list : {cudnn::List::Heuristic, cudnn::List::Fallback}) {
    auto engines = ask(cudnn, asked, list);
    if (!engines) return engines;
    if (engines->empty()) continue;
    cudnn.known.emplace(line, *engines);
    return engines;
  }
  return tl::unexpected(fmt::format("cuDNN has no deterministic engine in {} for {} {}",
                                    runtime::dtypeName(cudnn::dtypeOf(asked.problem)), kindOf(asked.problem), line));
}

}  // namespace

void describeDevice(const std::string& properties, cudnn::Answerer answerer) {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  cudnn.answerer = std::move(answerer);
  if (properties == cudnn.properties) return;
  cudnn.properties = properties;
  if (!cudnn.card) cudnn.known.clear();
  cudnn.described.reset();
}

void forgetAnswerer(const void* owner) {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  if (cudnn.answerer.owner == owner) cudnn.answerer = {};
}

tl::expected<std::vector<cudnn::Engine>, std::string> enginesOf(const Asked& asked) {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  return enginesOf(cudnn, asked);
}

tl::expected<std::vector<cudnn::Engine>, std::string> fallbackEnginesOf(const Asked& asked) {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  return ask(cudnn, asked, cudnn::List::Fallback);
}

tl::expected<PreparedPlan, std::string> PreparedPlan::prepare(const Asked& asked, const cudnn::Engine& engine) {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  if (const std::string why = open(cudnn); !why.empty()) return tl::unexpected(why);
  const auto device = openDevice();
  if (!cudnn.card || !device) return tl::unexpected(std::string("there is no card to run it on"));
  std::string why;  // of the first that cannot be prepared
  const auto prepareFirst = [&](const std::vector<cudnn::Engine>& list) -> std::optional<PreparedPlan> {
    for (const cudnn::Engine& one : list) {
      if (one.workspace > engine.workspace) continue;
      std::string key = planKey(asked.problem, one);
      const auto used = cudnn.plans.find(key);
      if (used != cudnn.plans.end() && used->second.plan.workspace() <= engine.workspace) {
        ++used->second.users;
        return PreparedPlan(std::move(key), used->second.plan);
      }
      const Booking booking(**device, &Ledger::plans);
      auto plan = (*cudnn.card)->plan(asked.problem, one);
      if (plan && plan->workspace() <= engine.workspace) {
        const auto made = cudnn.plans.emplace(key, UsedPlan{std::move(*plan), 1}).first;
        return PreparedPlan(std::move(key), made->second.plan);
      }
      if (why.empty()) {
        why = plan ? fmt::format("engine {} needs {} bytes, and said {}", one.index, plan->workspace(), one.workspace)
                   : plan.error();
      }
    }
    return std::nullopt;
  };
  if (auto ready = prepareFirst({engine})) return std::move(*ready);
  for (const cudnn::List list : {cudnn::List::Heuristic, cudnn::List::Fallback}) {
    const auto others = ask(cudnn, asked, list);
    if (!others) continue;
    if (auto ready = prepareFirst(*others)) return std::move(*ready);
  }
  return tl::unexpected(fmt::format("cuDNN cannot prepare {} {} in {} bytes: {}", kindOf(asked.problem),
                                    cudnn::describe(asked.problem), engine.workspace, why));
}

PreparedPlan::~PreparedPlan() {
  if (key.empty()) return;
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  const auto used = cudnn.plans.find(key);
  if (--used->second.users == 0) cudnn.plans.erase(used);
}

std::string PreparedPlan::run(std::span<void* const> tensors, void* workspace) {
  const std::lock_guard lock(shared().mutex);
  return plan->run(tensors, workspace);
}

std::string cudnnVersion() {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  if (const std::string known = othersAnswer(cudnn) ? cudnn.answerer.version() : ""; !known.empty()) return "cuDNN " + known;
  const auto& library = libraryOf(cudnn);
  return library ? "cuDNN " + library->version : std::string();
}

std::string cudnnPath() {
  Cudnn& cudnn = shared();
  const std::lock_guard lock(cudnn.mutex);
  const auto& library = libraryOf(cudnn);
  return library ? library->path : std::string();
}

}  // namespace tbem::cuda
