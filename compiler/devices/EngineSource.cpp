#include "compiler/devices/EngineSource.h"

#include "compiler/jit/glue/CacheFile.h"
#include "runtime/cudnn/Places.h"
#include "runtime/cudnn/Recorded.h"
#include "runtime/files/Read.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <set>

namespace tbem::driver {

tl::expected<cudnn::DeviceProperties, std::string> propertiesOf(const estimate::Device& device) {
  if (!device.architecture) return tl::unexpected(std::string("architecture"));
  if (device.memory == 0) return tl::unexpected(std::string("memory"));
  if (device.multiprocessors == 0) return tl::unexpected(std::string("multiprocessors"));
  if (device.clock == 0) return tl::unexpected(std::string("clock"));
  if (device.memoryClock == 0) return tl::unexpected(std::string("memory_clock"));
  if (device.l2 == 0) return tl::unexpected(std::string("l2"));
  constexpr std::int64_t kDriver = 13000;  // CUDA 13.0
  const estimate::Architecture& a = *device.architecture;
  cudnn::DeviceProperties p;
  p.name = device.name;
  p.capability = a.capability * 10;
  p.multiprocessors = device.multiprocessors;
  p.memory = device.memory;
  p.l2 = device.l2;
  p.clockKHz = std::llround(device.clock / 1e3);
  p.memoryClockKHz = std::llround(device.memoryClock / 1e3);
  p.sharedPerBlock = a.sharedPerBlock;
  p.sharedPerBlockMost = a.sharedPerBlockMost;
  p.sharedReserved = a.sharedReserved;
  p.registersPerBlock = a.registersPerBlock;
  p.registersPerMultiprocessor = a.registersPerMultiprocessor;
  p.threadsPerBlock = a.threadsPerBlock;
  p.threadsPerMultiprocessor = a.threadsPerMultiprocessor;
  p.blocksPerMultiprocessor = a.blocksPerMultiprocessor;
  p.warp = a.warp;
  p.block = a.block;
  p.grid = a.grid;
  p.driver = kDriver;
  return p;
}

namespace {

/// Whether answers that were given for one device hold for the other: the properties that a list could depend on are the same.
bool isSameDevice(const nlohmann::json& one, const nlohmann::json& other) {
  const auto without = [](nlohmann::json properties) {
    for (const char* field : {"totalGlobalMem", "driverVer", "pciDeviceId"}) properties.erase(field);
    return properties;
  };
  return without(one) == without(other);
}

}  // namespace

struct EngineSource::Impl {
  cudnn::DeviceProperties described;
  std::string properties;  ///< the same as JSON
  std::string without;     ///< why there is no library; "": there is one
  bool elsewhere = false;  ///< `kept` is what a library on another machine said; there is none here
  std::string path, asked, file;
  std::string refused;  ///< why `file` is not believed
  cudnn::LibcudaFound libcuda;
  KeptEngines kept;
  EngineAnswers fresh;  ///< what was asked anew
  std::string version;
  std::optional<cudnn::Library> library;
  std::optional<cudnn::Device> device;
  std::size_t* asks = nullptr;  ///< of the command
  Events* events = nullptr;     // as `asks`
  std::set<std::string> leftOut;

  EngineList withoutLibrary(const cudnn::Convolution& problem, cudnn::List list) const {
    if (list == cudnn::List::Heuristic) {
      if (const auto* known = cudnn::recordedTable(described).find(described, problem)) return {*known, Origin::Recorded};
    }
    return {cudnn::modelled(problem), Origin::Model};
  }

  /// What a cuDNN elsewhere said of this device. "" or why not.
  std::string openAnswers(const std::string& answers) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;
    auto text = files::readFile(answers, kMostBytes);
    if (!text) return std::move(text).error().message;
    auto found = KeptEngines::open(*std::move(text));
    if (!found) return fmt::format("{} is no file of cuDNN's answers", answers);
    const std::string& question = found->asked();
    const std::size_t brace = question.find('{');
    const auto theirs = nlohmann::json::parse(brace == std::string::npos ? "" : question.substr(brace), nullptr, false);
    if (theirs.is_discarded()) return fmt::format("{} does not say of which device its answers are", answers);
    if (!isSameDevice(theirs, nlohmann::json::parse(properties)))
      return fmt::format("{} holds answers for {}, not for {}", answers, theirs.value("deviceName", "another device"),
                         described.name);
    kept = std::move(*found);
    version = kept.version();
    path = answers;
    without = "cuDNN answered elsewhere";
    elsewhere = true;
    return {};
  }

  /// What was asked before.
  std::optional<std::vector<cudnn::Engine>> known(const std::string& key) const {
    if (auto known = kept.find(key)) return known;
    const auto now = fresh.lists.find(key);
    return now == fresh.lists.end() ? std::nullopt : std::optional(now->second);
  }

  tl::expected<std::vector<cudnn::Engine>, std::string> ask(const std::string& key, const cudnn::Problem& problem,
                                                            cudnn::List list) {
    ++*asks;
    if (const std::string why = openLibrary(); !why.empty()) return tl::unexpected(why);
    auto answer = device->engines(problem, list);
    if (answer) fresh.lists.emplace(key, *answer);
    return answer;
  }

  /// "" or why not.
  std::string openLibrary() {
    if (device) return {};
    auto opened = cudnn::openLibrary(path);
    if (!opened) return opened.error();
    library = std::move(*opened);
    auto made = cudnn::Device::make(*library, properties);
    if (!made) return made.error();
    device.emplace(std::move(*made));
    version = fresh.version = library->version;
    return {};
  }
};

EngineSource::EngineSource(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
EngineSource::~EngineSource() = default;
EngineSource::EngineSource(EngineSource&&) noexcept = default;
EngineSource& EngineSource::operator=(EngineSource&&) noexcept = default;

tl::expected<EngineSource, Failed> EngineSource::open(const std::string& given, bool pythonFirst, const estimate::Device& device,
                                                      std::size_t& asked, Events& events) {
  const auto properties = propertiesOf(device);
  if (!properties) {
    return failed(kUsage, fmt::format("device {} has no field `{}`, which cuDNN asks for (tbemc explain E0512)", device.name,
                                      properties.error()));
  }
  auto impl = std::make_unique<Impl>();
  impl->described = *properties;
  impl->asks = &asked;
  impl->events = &events;
  impl->properties = cudnn::toJson(*properties);
  if (given == "none") {
    impl->without = "no cuDNN is asked";
    return EngineSource(std::move(impl));
  }
  std::error_code none;
  if (std::filesystem::is_regular_file(given, none)) {
    if (const std::string why = impl->openAnswers(given); !why.empty()) return failed(kUsage, fmt::format("--cudnn {}", why));
    return EngineSource(std::move(impl));
  }
  const auto path = cudnn::findLibrary(given, cudnn::cudnnPlaces(pythonFirst));
  if (!path) {
    if (!given.empty()) return failed(kEnvironment, path.error());
    impl->without = path.error() + " (--cudnn DIR names its folder)";
    return EngineSource(std::move(impl));
  }
  impl->path = *path;
  impl->libcuda = cudnn::openLibcuda(cudnn::libcudaStubs());
  // The file stands for its version: nothing need be opened where everything was asked before.
  const std::string library = cudnn::identityOf(*path);
  impl->asked = fmt::format("{} {} wording {} {}", library, cudnn::describe(impl->libcuda), cudnn::kWording, impl->properties);
  impl->file = library.empty() ? std::string() : cacheFilePath("engines", impl->asked);
  if (!impl->file.empty()) {
    if (auto kept = KeptEngines::open(readText(impl->file, impl->refused), impl->asked)) impl->kept = std::move(*kept);
    impl->version = impl->kept.version();
  }
  return EngineSource(std::move(impl));
}

tl::expected<EngineList, std::string> EngineSource::engines(const cudnn::Convolution& problem, cudnn::List list) {
  const std::string key = engineKey(list, problem);
  if (auto known = impl->known(key)) return EngineList{*std::move(known), Origin::Cudnn};
  if (!impl->without.empty()) return impl->withoutLibrary(problem, list);
  if (*impl->asks >= kMostAsked) {
    impl->leftOut.insert(key);
    return impl->withoutLibrary(problem, list);
  }
  impl->events->progress(*impl->asks + 1, 0,
                         fmt::format("cuDNN is asked for the engines of a convolution on {}", impl->described.name));
  auto asked = impl->ask(key, problem, list);
  if (!asked) return tl::unexpected(asked.error());
  return EngineList{std::move(*asked), Origin::Cudnn};
}

tl::expected<std::vector<cudnn::Engine>, std::string> EngineSource::answer(const cudnn::Problem& problem, cudnn::List list) {
  const std::string key = engineKey(list, problem);
  if (auto known = impl->known(key)) return *std::move(known);
  if (!impl->without.empty()) return tl::unexpected(impl->without);
  return impl->ask(key, problem, list);
}

bool EngineSource::hasAnswers() const { return impl->without.empty() || impl->elsewhere; }
const std::string& EngineSource::refused() const { return impl->refused; }
const std::string& EngineSource::version() const { return impl->version; }
const std::string& EngineSource::path() const { return impl->path; }
std::optional<cudnn::Libcuda> EngineSource::libcuda() const {
  return impl->elsewhere ? std::nullopt : std::optional(impl->libcuda.kind);
}
std::size_t EngineSource::askedAnew() const { return impl->fresh.lists.size(); }
std::size_t EngineSource::leftOut() const { return impl->leftOut.size(); }

std::string EngineSource::describe() const {
  if (impl->elsewhere) return fmt::format("cuDNN {} as it answered elsewhere ({})", version(), path());
  if (!hasAnswers()) {
    return fmt::format("{}: `recorded` is what {} said (batch 32, deterministic engines), `model` a copy of each tensor in NCHW",
                       impl->without, cudnn::recordedTable().made);
  }
  const std::string left = leftOut() == 0 ? "" : fmt::format(", {} lists left out at the limit of work", leftOut());
  return fmt::format("cuDNN {} ({}), libcuda: {}{}", version(), path(), cudnn::describe(impl->libcuda), left);
}

std::string EngineSource::keep() {
  if (impl->fresh.lists.empty() || impl->file.empty()) return {};
  return updateText(impl->file, [&](const std::string& text) {
    EngineAnswers all = parseEngines(text, impl->asked).value_or(EngineAnswers{});
    all.version = impl->fresh.version;
    for (const auto& [key, engines] : impl->fresh.lists) all.lists.insert_or_assign(key, engines);
    impl->fresh.lists.clear();
    return enginesText(impl->asked, all);
  });
}

}  // namespace tbem::driver
