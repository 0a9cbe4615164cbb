#include "compiler/run/weights/CompareArrays.h"

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/run/weights/WeightNames.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

using runtime::BufferClass;

constexpr std::string_view kInputGroup = "input/";
constexpr std::string_view kGroups[] = {kInputGroup, "weight/", "buffer/"};

/// The group that a name of a saved step begins with, or "".
std::string_view groupOf(std::string_view name) {
  const auto* const group = std::ranges::find_if(kGroups, [&](std::string_view one) { return name.starts_with(one); });
  return group == std::end(kGroups) ? std::string_view() : *group;
}

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

std::vector<ArrayPlace> placesOf(const graph::Row& row) {
  const graph::Graph& graph = row.graph();
  std::vector<ArrayPlace> places;
  const auto add = [&](BufferClass kind, graph::TensorId id) {
    const graph::Tensor& tensor = graph[id];
    ArrayPlace place{kind, graph[tensor.storage].path, tensor.dtype, {}};
    for (const sema::ExprId dim : tensor.shape) place.shape.push_back(row.values[dim].num);
    places.push_back(std::move(place));
  };
  for (const graph::Graph::Weight& weight : graph.weights) add(BufferClass::Weight, weight.value);
  for (const graph::TensorId buffer : graph.buffers) add(BufferClass::Buffer, buffer);
  for (const graph::TensorId input : graph.inputs) add(BufferClass::Input, input);
  return places;
}

class Comparer {
public:
  Comparer(const data::ArrayFile& file, std::vector<ArrayPlace> places) : file(file) {
    result.places = std::move(places);
    for (const ArrayPlace& place : result.places) {
      if (!place.isWeight()) continue;
      weights.push_back(&place);
      paths.push_back(place.path);
    }
  }

  /// Errors: as compareArrays.
  std::string matchByTable(const std::vector<NameRule>& rules) {
    result.prefix =
        sharedPrefix(file, [&](const NamedRank& array) { return array.name.starts_with(kInputGroup) || isNamed(rules, array); });
    std::vector<NamedRank> theirs;
    for (const data::ArrayView& array : file.arrays) {
      // Inputs have no other names: they may lie beside weights that do.
      if (inputOf(array) != nullptr) continue;
      theirs.push_back({std::string_view(array.name).substr(result.prefix.size()), array.shape.size()});
    }
    const auto matched = matchNames(rules, theirs, paths);
    if (!matched) return matched.error();
    auto to = matched->begin();
    for (const data::ArrayView& array : file.arrays) {
      if (const ArrayPlace* input = inputOf(array)) {
        put(array, *input);
        continue;
      }
      if (*to == kUnmatched || *to == kUnused) {
        result.arrays.push_back({&array, *to == kUnused ? ArrayFit::Unused : ArrayFit::Unknown, nullptr, {}});
      } else {
        put(array, *weights[*to]);
      }
      ++to;
    }
    return {};
  }

  void matchByPath() {
    // Of a saved step `output` is a result, though an input or a weight may be called so too: those are in a group.
    const bool isStep =
        std::ranges::any_of(file.arrays, [](const data::ArrayView& array) { return !groupOf(array.name).empty(); });
    // Likewise a target: "target", or of several "target.NAME".
    const auto isTarget = [&](std::string_view name) {
      return isStep && groupOf(name).empty() && (name == "target" || name.starts_with("target."));
    };
    result.prefix = sharedPrefix(file, [&](const NamedRank& array) {
      return !groupOf(array.name).empty() || isTarget(array.name) || isResult(array.name) || find(array.name) != nullptr;
    });
    for (const data::ArrayView& array : file.arrays) {
      const std::string_view group = groupOf(array.name);
      const std::string_view path = std::string_view(array.name).substr(result.prefix.size() + group.size());
      const bool isOutcome = isStep && group.empty() && !isTarget(path) && isResult(path);
      if (const ArrayPlace* place = isOutcome ? nullptr : find(path)) {
        put(array, *place);
      } else if (isOutcome || isTarget(path) || isResult(array.name)) {
        result.arrays.push_back({&array, ArrayFit::Unused, nullptr, {}});
      } else {
        result.arrays.push_back({&array, ArrayFit::Unknown, nullptr, nearest(path, paths)});
      }
    }
  }

  ArrayComparison finish() {
    const bool anyWeight = std::ranges::any_of(given, [](const ArrayPlace* place) { return place->isWeight(); });
    for (const ArrayPlace* weight : weights) {
      if (anyWeight && !given.contains(weight)) result.missing.push_back(weight);
      if (anyWeight && !taken.contains(weight)) result.initialised.push_back(weight);
    }
    return std::move(result);
  }

private:
  const ArrayPlace* find(std::string_view path) const {
    const auto place = std::ranges::find_if(result.places, [&](const ArrayPlace& one) { return one.path == path; });
    return place == result.places.end() ? nullptr : &*place;
  }

  /// The input that an array is by its name, `input/NAME`, or nullptr.
  const ArrayPlace* inputOf(const data::ArrayView& array) const {
    return array.name.starts_with(kInputGroup) ? find(std::string_view(array.name).substr(kInputGroup.size())) : nullptr;
  }

  void put(const data::ArrayView& array, const ArrayPlace& place) {
    ComparedArray compared{&array, ArrayFit::Taken, &place, {}};
    if (!given.insert(&place).second) {
      compared.fit = ArrayFit::Twice;
    } else if (place.shape != array.shape) {
      compared.fit = ArrayFit::Shape;
    } else if (tbem_is_floating(place.dtype) == 0) {
      if (auto held = data::toTensor(array, place.dtype); !held) {
        compared.fit = ArrayFit::Unheld;
        compared.hint = std::move(held).error();
      }
    }
    if (compared.fit == ArrayFit::Taken) taken.insert(&place);
    result.arrays.push_back(std::move(compared));
  }

  const data::ArrayFile& file;
  std::vector<const ArrayPlace*> weights;  ///< weights and buffers
  std::vector<std::string> paths;          ///< theirs
  std::set<const ArrayPlace*> given, taken;
  ArrayComparison result;
};

}  // namespace

bool ArrayComparison::fits() const {
  return missing.empty() && std::ranges::all_of(arrays, [](const ComparedArray& one) {
           return one.fit == ArrayFit::Taken || one.fit == ArrayFit::Unused;
         });
}

tl::expected<ArrayComparison, std::string> compareArrays(const data::ArrayFile& file, const std::string& names,
                                                         const graph::Row& row) {
  Comparer comparer(file, placesOf(row));
  if (names.empty()) {
    comparer.matchByPath();
    return comparer.finish();
  }
  const auto rules = loadNameTable(names, row.graph().network);
  if (!rules) return tl::unexpected(rules.error());
  if (std::string problem = comparer.matchByTable(*rules); !problem.empty()) return tl::unexpected(std::move(problem));
  return comparer.finish();
}

}  // namespace tbem::driver
