#include "compiler/run/weights/LoadWeights.h"

#include "compiler/diagnostics/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using runtime::BufferClass;

/// An array that `step --save` or a training writes and that is no beginning of a step.
bool isResult(std::string_view name) {
  const std::string_view group = name.substr(0, name.find('/'));
  constexpr std::string_view kResults[] = {"gradient", "after", "buffer_after", "state", "decision", "best"};
  if (group.size() < name.size()) return std::find(std::begin(kResults), std::end(kResults), group) != std::end(kResults);
  return name == "loss" || name == "target" || name == "output" ||
         (name.starts_with("output_") && name.find('.') == std::string_view::npos);
}

/// The first words that all names of the file have ("module.", of a model inside of another), where none `fits` with them and
/// some do without; else "".
std::string sharedPrefix(const data::ArrayFile& file, const std::function<bool(const NamedRank&)>& fits) {
  if (file.arrays.empty()) return {};
  const std::string_view first = file.arrays.front().name;
  for (std::size_t length = 0;;) {
    const std::string_view prefix = first.substr(0, length);
    const auto has = [&](const data::ArrayView& array) { return array.name.starts_with(prefix); };
    const auto fitsWithout = [&](const data::ArrayView& array) {
      return fits({std::string_view(array.name).substr(length), array.shape.size()});
    };
    if (!std::ranges::all_of(file.arrays, has)) return {};
    if (std::ranges::any_of(file.arrays, fitsWithout)) return std::string(prefix);
    const std::size_t dot = first.find('.', length);
    if (dot == std::string_view::npos) return {};
    length = dot + 1;
  }
}

class Loader {
public:
  Loader(const data::ArrayFile& file, runtime::Instance& instance) : file(file), instance(instance) {
    const auto& storages = instance.executable().storages;
    for (std::uint32_t i = 0; i < storages.size(); ++i) {
      if (storages[i].kind != BufferClass::Weight && storages[i].kind != BufferClass::Buffer) continue;
      weights.push_back(i);
      paths.push_back(storages[i].path);
    }
  }

  std::string matchByTable(const std::vector<NameRule>& rules) {
    prefix =
        sharedPrefix(file, [&](const NamedRank& array) { return array.name.starts_with("input/") || isNamed(rules, array); });
    std::vector<NamedRank> theirs;
    std::vector<const data::ArrayView*> arrays;
    for (const data::ArrayView& array : file.arrays) {
      // Inputs have no other names: they may lie beside weights that do.
      const std::string_view name = array.name, group = "input/";
      const auto input = name.starts_with(group) ? instance.findStorage(name.substr(group.size())) : std::nullopt;
      if (input) {
        place(array, *input);
        continue;
      }
      theirs.push_back({name.substr(prefix.size()), array.shape.size()});
      arrays.push_back(&array);
    }
    const auto matched = matchNames(rules, theirs, paths);
    if (!matched) return matched.error();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::size_t to = (*matched)[i];
      if (to == kUnmatched) unknown.push_back(fmt::format("`{}`", arrays[i]->name));
      if (to != kUnmatched && to != kUnused) place(*arrays[i], weights[to]);
    }
    return {};
  }

  void matchByPath() {
    constexpr std::string_view kGroups[] = {"input/", "weight/", "buffer/"};
    const auto groupOf = [&](std::string_view name) {
      const auto* const group =
          std::find_if(std::begin(kGroups), std::end(kGroups), [&](std::string_view one) { return name.starts_with(one); });
      return group == std::end(kGroups) ? std::string_view() : *group;
    };
    // Of a saved step `output` is a result, though an input or a weight may be called so too: those are in a group.
    const bool isStep = std::any_of(file.arrays.begin(), file.arrays.end(),
                                    [&](const data::ArrayView& array) { return !groupOf(array.name).empty(); });
    prefix = sharedPrefix(file, [&](const NamedRank& array) {
      return !groupOf(array.name).empty() || isResult(array.name) || instance.findStorage(array.name).has_value();
    });
    for (const data::ArrayView& array : file.arrays) {
      const std::string_view path = std::string_view(array.name).substr(prefix.size() + groupOf(array.name).size());
      if (isStep && groupOf(array.name).empty() && path != "target" && isResult(path)) continue;
      const auto storage = instance.findStorage(path);
      if (storage) {
        place(array, *storage);
      } else if (!isResult(array.name)) {
        const std::string close = nearest(path, paths);
        unknown.push_back(close.empty() ? fmt::format("`{}`", array.name)
                                        : fmt::format("`{}` (did you mean `{}`?)", array.name, close));
      }
    }
  }

  /// What does not fit, in words; "" where all does.
  std::string problems() const {
    std::string text;
    const auto say = [&](std::string_view what, const std::vector<std::string>& names) {
      if (!names.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what, listed(names));
    };
    say("no input, weight or buffer of this network", unknown);
    say("given twice", twice);
    say("another shape", misshapen);
    say("not in the file", missing());
    return text;
  }

  /// Paths without an array, where the file has any weight: a file of inputs alone leaves all weights as they are.
  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    if (!anyWeight) return names;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!given.contains(weights[i])) names.push_back(fmt::format("`{}`", paths[i]));
    }
    return names;
  }

  tl::expected<Loaded, std::string> write() {
    Loaded loaded;
    for (const auto& [array, storage] : placed) {
      const auto value = data::toTensor(*array, operand(storage).dtype);
      if (!value) return Failure(value.error());
      if (const auto written = instance.writeStorage(storage, *value); !written) return Failure(written.error().message);
    }
    loaded.taken = placed.size();
    loaded.prefix = prefix;
    for (const auto* names : {&unknown, &twice, &misshapen})
      loaded.ignored.insert(loaded.ignored.end(), names->begin(), names->end());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (anyWeight && !fits.contains(weights[i])) loaded.missing.push_back(fmt::format("`{}`", paths[i]));
    }
    return loaded;
  }

private:
  const tbem_operand& operand(std::uint32_t storage) const {
    return instance.executable().buffers[instance.executable().storages[storage].buffer].operand;
  }

  void place(const data::ArrayView& array, std::uint32_t storage) {
    const BufferClass kind = instance.executable().storages[storage].kind;
    anyWeight = anyWeight || kind == BufferClass::Weight || kind == BufferClass::Buffer;
    if (!given.insert(storage).second) {
      twice.push_back(fmt::format("`{}`", array.name));
      return;
    }
    const tbem_operand& to = operand(storage);
    const std::vector<std::int64_t> dims(to.dims, to.dims + to.rank);
    if (dims != array.shape) {
      misshapen.push_back(
          fmt::format("`{}` is {}, the network's is {}", array.name, data::shapeText(array.shape), data::shapeText(dims)));
      return;
    }
    fits.insert(storage);
    placed.emplace_back(&array, storage);
  }

  const data::ArrayFile& file;
  runtime::Instance& instance;
  std::vector<std::uint32_t> weights;  ///< storages that are weights or buffers
  std::vector<std::string> paths;      ///< their paths
  std::vector<std::pair<const data::ArrayView*, std::uint32_t>> placed;
  std::set<std::uint32_t> given, fits;
  bool anyWeight = false;
  std::string prefix;
  std::vector<std::string> unknown, twice, misshapen;
};

}  // namespace

tl::expected<Loaded, std::string> loadArrays(const data::ArrayFile& file, const std::vector<NameRule>* rules, bool partial,
                                             runtime::Instance& instance) {
  Loader loader(file, instance);
  if (rules != nullptr) {
    if (const std::string problem = loader.matchByTable(*rules); !problem.empty()) return Failure(problem);
  } else {
    loader.matchByPath();
  }
  if (const std::string problems = loader.problems(); !problems.empty() && !partial) {
    return Failure(fmt::format("{} (--partial takes what fits and leaves the rest as initialised)", problems));
  }
  return loader.write();
}

}  // namespace tbem::driver
