#include "compiler/run/weights/LoadWeights.h"

#include "compiler/run/weights/WeightNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;

std::string unfitText(const ComparedArray& compared) {
  const data::ArrayView& array = *compared.array;
  if (compared.fit == ArrayFit::Shape) {
    return fmt::format("`{}` is {}, the network's is {}", array.name, data::shapeText(array.shape),
                       data::shapeText(compared.place->shape));
  }
  if (compared.fit == ArrayFit::Unknown && !compared.hint.empty())
    return fmt::format("`{}` (did you mean `{}`?)", array.name, compared.hint);
  return fmt::format("`{}`", array.name);
}

std::vector<std::string> unfit(const ArrayComparison& comparison, ArrayFit fit) {
  std::vector<std::string> texts;
  for (const ComparedArray& compared : comparison.arrays) {
    if (compared.fit == fit) texts.push_back(unfitText(compared));
  }
  return texts;
}

/// Where the step has an array's place, or nothing: it reads not all inputs and weights that the network names.
std::optional<std::uint32_t> storageOf(const runtime::Instance& instance, const ArrayPlace& place) {
  const auto& storages = instance.executable().storages;
  const auto storage = std::ranges::find_if(
      storages, [&](const runtime::StorageDesc& one) { return one.kind == place.kind && one.path == place.path; });
  if (storage == storages.end()) return std::nullopt;
  return static_cast<std::uint32_t>(storage - storages.begin());
}

std::vector<std::string> pathsOf(const std::vector<const ArrayPlace*>& places) {
  std::vector<std::string> texts;
  for (const ArrayPlace* place : places) texts.push_back(fmt::format("`{}`", place->path));
  return texts;
}

/// What does not fit, in words; "" where the file is read as it is.
std::string problemsOf(const ArrayComparison& comparison) {
  std::string text;
  const auto say = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what, listed(names));
  };
  say("no input, weight or buffer of this network", unfit(comparison, ArrayFit::Unknown));
  say("given twice", unfit(comparison, ArrayFit::Twice));
  say("another shape", unfit(comparison, ArrayFit::Shape));
  say("not in the file", pathsOf(comparison.missing));
  return text;
}

}  // namespace

tl::expected<Loaded, std::string> loadArrays(const ArrayComparison& comparison, bool partial, runtime::Instance& instance) {
  if (const std::string problems = problemsOf(comparison); !problems.empty() && !partial)
    return Failure(fmt::format("{} (--partial takes what fits and leaves the rest as initialised)", problems));
  Loaded loaded;
  for (const ComparedArray& compared : comparison.arrays) {
    if (compared.fit == ArrayFit::Unheld) return Failure(compared.hint);
    if (compared.fit != ArrayFit::Taken) continue;
    ++loaded.taken;
    const auto storage = storageOf(instance, *compared.place);
    if (!storage) continue;
    const auto value = data::toTensor(*compared.array, compared.place->dtype);
    if (!value) return Failure(value.error());
    if (const auto written = instance.writeStorage(*storage, *value); !written) return Failure(written.error().message);
  }
  loaded.prefix = comparison.prefix;
  for (const ArrayFit fit : {ArrayFit::Unknown, ArrayFit::Twice, ArrayFit::Shape})
    std::ranges::move(unfit(comparison, fit), std::back_inserter(loaded.ignored));
  loaded.missing = pathsOf(comparison.initialised);
  return loaded;
}

}  // namespace tbem::driver
