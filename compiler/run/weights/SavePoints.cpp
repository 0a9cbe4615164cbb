#include "compiler/run/weights/SavePoints.h"

#include "compiler/experiment/OutFolder.h"
#include "compiler/run/RunPerturbations.h"
#include "compiler/support/Version.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/store/Store.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

data::Array numbersOf(const std::string& name, const perturb::Series& series) {
  data::Array array{name, "i8", {std::ssize(series.points)}, {}};
  array.bytes.resize(series.points.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < series.points.size(); ++i)
    std::memcpy(array.bytes.data() + i * sizeof(std::int64_t), &series.points[i].example, sizeof(std::int64_t));
  return array;
}

/// One method's points, in the order of its series. Errors: in words.
tl::expected<data::Array, std::string> pointsOf(const std::string& name, const perturb::Series& series,
                                                const std::vector<std::int64_t>& shape,
                                                const store::Result<std::vector<store::StoredPoint>>& stored) {
  if (!stored) return tl::unexpected(stored.error().message);
  data::Array array{name, "f4", shape, {}};
  const std::size_t bytes = static_cast<std::size_t>(array.elements()) * sizeof(float);  // of one point
  array.shape.insert(array.shape.begin(), std::ssize(series.points));
  array.bytes.resize(bytes * series.points.size());
  auto next = stored->begin();
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const std::int64_t example = series.points[i].example;
    while (next != stored->end() && next->example < example) ++next;  // both are by example
    if (next == stored->end() || next->example != example || next->input.size() != bytes)
      return tl::unexpected(fmt::format("the store has no numbers of {}, example {}", series.text, example));
    std::memcpy(array.bytes.data() + i * bytes, next->input.data(), bytes);
  }
  return array;
}

}  // namespace

tl::expected<void, Failed> savePoints(State& state, const std::string& store, const std::string& path) {
  auto opened = store::Store::open(store, store::Mode::ReadOnly);
  if (!opened) return failed(kEnvironment, opened.error().message);
  std::vector<data::Array> arrays;
  for (const Perturbed& perturbed : state.perturbed) {
    if (!perturbed.outcome) continue;
    const PerturbationRun& run = *perturbed.perturbation;
    const std::string name = run.spec.decl->name.text;
    const std::vector<perturb::Series>& all = perturbed.outcome->series;
    const std::string checkpoint = checkpointPath(*state.workspace, *run.training, state.request.training.folder);
    const auto identities = storedUnder(state, run, checkpoint);
    if (!identities) return tl::unexpected(identities.error());
    if (!all.empty()) arrays.push_back(numbersOf(name + "/example", all.front()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto points = pointsOf(fmt::format("{}/{}.{}", name, i + 1, all[i].word), all[i], run.about.inputs.front().shape,
                             opened->points((*identities)[i], store::Inputs::Read));
      if (!points) return failed(kEnvironment, fmt::format("perturb {}: {}", name, points.error()));
      arrays.push_back(std::move(*points));
    }
  }
  const auto written = data::writeArrayFile(path, std::move(arrays), {{"tbemc", kVersion}});
  if (!written) return failed(kEnvironment, written.error());
  return {};
}

}  // namespace tbem::driver
