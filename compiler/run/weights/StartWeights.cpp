#include "compiler/run/weights/StartWeights.h"

#include "compiler/jit/glue/Cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tbem::driver {

namespace {

namespace fs = std::filesystem;

bool isTakenWeight(const ComparedArray& compared) { return compared.fit == ArrayFit::Taken && compared.place->isWeight(); }

std::string hashOf(const ArrayComparison& comparison) {
  std::string bytes;
  for (const ComparedArray& compared : comparison.arrays) {
    if (!isTakenWeight(compared)) continue;
    bytes += compared.place->path;
    bytes.append(reinterpret_cast<const char*>(compared.array->bytes.data()), compared.array->bytes.size());
  }
  return jit::hashKey(bytes);
}

}  // namespace

tl::expected<StartWeights, Failed> startOf(const TrainingRun& training, const graph::Row& step, const StartFolders& folders) {
  const graph::StartSpec& spec = *training.spec.start;
  const auto refuse = [&](const std::string& why) {
    return failed(kEnvironment, fmt::format("train {}: {}", training.spec.decl->name.text, why));
  };
  if (training.startsFrom != nullptr && folders.kept.empty())
    return refuse("the weights that it begins with are kept nowhere; --out DIR keeps them there");
  const fs::path path = training.startsFrom != nullptr
                            ? fs::path(folders.kept) / (training.startsFrom->spec.decl->name.text + ".safetensors")
                            : fs::path(folders.program) / spec.file;
  auto file = data::ArrayFile::open(path.string());
  if (!file) return refuse(file.error());
  const bool isFile = spec.names.find_first_of("./") != std::string::npos;  // as loadNameTable; else a table of the library
  auto comparison = compareArrays(*file, isFile ? (fs::path(folders.program) / spec.names).string() : spec.names, step);
  if (!comparison) return refuse(comparison.error());
  if (std::ranges::none_of(comparison->arrays, isTakenWeight))
    return refuse(fmt::format("{} has no weight of `{}`", path.string(), training.spec.network->name.text));
  StartWeights start{path.string(), std::move(*file), std::move(*comparison), spec.partial, ""};
  start.hash = hashOf(start.comparison);
  return start;
}

std::string startText(const StartWeights& start) {
  const auto taken = std::ranges::count_if(start.comparison.arrays, isTakenWeight);
  std::string text = fmt::format("begins with {} array{} of {}", taken, taken == 1 ? "" : "s", start.path);
  std::vector<std::string> initialised;
  for (const ArrayPlace* place : start.comparison.initialised) initialised.push_back(place->path);
  if (initialised.empty()) return text;
  constexpr std::size_t kShown = 4;
  const std::size_t shown = std::min(initialised.size(), kShown);
  return text + fmt::format("; {} stay{} as initialised: {}{}", initialised.size(), initialised.size() == 1 ? "s" : "",
                            fmt::join(initialised.begin(), initialised.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                            initialised.size() > shown ? " .." : "");
}

}  // namespace tbem::driver
