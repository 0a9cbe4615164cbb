#include "runtime/core/Layout.h"
#include "runtime/perturb/Tensors.h"
#include "runtime/perturb/defence/Defence.h"
#include "runtime/perturb/defence/LinearMachine.h"
#include "runtime/perturb/defence/MovedPoints.h"
#include "runtime/train/Order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

/// What the first layer computes of rows of numbers, one after the other.
struct Features {
  std::vector<float> numbers;
  std::size_t size = 0;  ///< of a row

  std::span<const float> row(std::size_t i) const { return std::span(numbers).subspan(i * size, size); }
};

/// Of one example, in the batch of which it is alone: what it is said of belongs to nobody else.
Plan oneByOne(const Plan& plan, std::int64_t count) {
  Plan fewer = plan;
  fewer.count = std::min(plan.count, count);
  fewer.batch = 1;
  return fewer;
}

/// Examples and points at the first layer.
class LayerReader {
public:
  LayerReader(const Plan& plan, const data::Dataset& dataset, const Victim& victim, const FirstLayer& layer)
      : victim(victim), layer(layer), examples(plan, dataset) {}

  Result<void> prepare() {
    const std::array<const runtime::Executable*, 1> executables{layer.network};
    auto memory = runtime::Arena::create(executables, *victim.backend);
    if (!memory) return failure(Kind::Environment, memory.error().message);
    arena = std::move(*memory);
    auto loaded = runtime::Instance::create(*layer.network, *arena);
    if (!loaded) return failure(Kind::Environment, loaded.error().message);
    instance = std::move(*loaded);
    if (auto done = instance->initialise(0); !done) return failure(Kind::Environment, done.error().message);
    if (auto done = train::give(*victim.weights, *instance); !done) return failure(Kind::Run, done.error());
    return {};
  }

  std::int64_t batches() const { return examples.batches(); }

  /// Adds those of one batch: of its examples, and of the points of each series.
  Result<void> add(std::int64_t number, const std::vector<Series>& series, Features& ofExamples,
                   std::vector<Features>& ofPoints) {
    const auto batch = examples.read(number);
    if (!batch) return tl::unexpected(batch.error());
    if (auto done = look(batch->inputs, *batch, ofExamples); !done) return done;
    for (std::size_t m = 0; m < series.size(); ++m) {
      const auto points = pointsOf(series[m], *batch);
      if (!points) return tl::unexpected(points.error());
      if (auto done = look(*points, *batch, ofPoints[m]); !done) return done;
    }
    return {};
  }

private:
  Result<void> look(std::span<const float> inputs, const Batch& batch, Features& into) {
    if (auto done = writeInput(*instance, victim.input, inputs); !done) return done;
    if (auto done = instance->run(1); !done) return failure(Kind::Run, done.error().message);
    const auto numbers = readNumbers(*instance, layer.network->outputs.back());
    if (!numbers) return tl::unexpected(numbers.error());
    if (!std::ranges::all_of(*numbers, [](float number) { return std::isfinite(number); }))
      return failure(Kind::Run,
                     fmt::format("what `{}` computes of example {} is not finite", layer.name, batch.examples.front()));
    into.size = numbers->size();
    into.numbers.insert(into.numbers.end(), numbers->begin(), numbers->end());
    return {};
  }

  const Victim& victim;
  const FirstLayer& layer;
  const Examples examples;
  std::unique_ptr<runtime::Arena> arena;
  std::unique_ptr<runtime::Instance> instance;
};

/// The share of pairs (point, example) of which the point scores higher, equal scores half (Mann & Whitney 1947).
double areaUnderCurve(std::vector<double> ofPoints, std::vector<double> ofExamples) {
  std::ranges::sort(ofExamples);
  double higher = 0;
  for (const double score : ofPoints) {
    const auto [first, behind] = std::ranges::equal_range(ofExamples, score);
    higher += static_cast<double>(first - ofExamples.begin()) + 0.5 * static_cast<double>(behind - first);
  }
  return higher / (static_cast<double>(ofPoints.size()) * static_cast<double>(ofExamples.size()));
}

double meanOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

double deviationOf(const std::vector<double>& numbers) {
  const double mean = meanOf(numbers);
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / static_cast<double>(numbers.size() - 1));
}

/// Learns on the other folds and looks at each. One class: all parts name the series, the folds and the features.
class CrossValidation {
public:
  CrossValidation(const Plan& plan, const DetectorPlan& detector, const std::vector<Series>& series, Features ofExamples,
                  std::vector<Features> ofPoints)
      : detector(detector), series(series), ofExamples(std::move(ofExamples)), ofPoints(std::move(ofPoints)) {
    const auto count = static_cast<std::int64_t>(this->ofExamples.numbers.size() / this->ofExamples.size);
    foldOf.resize(static_cast<std::size_t>(count));
    const std::vector<std::int64_t> order = train::shuffled(plan.seed, 0, count);
    for (std::size_t place = 0; place < order.size(); ++place)
      foldOf[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place) % detector.folds;
    areas.assign(series.size(), std::vector<std::vector<double>>(series.size()));
  }

  /// False: it was ended.
  Result<bool> run(const DefenceProgress& progress) {
    const std::int64_t total = std::ssize(series) * detector.folds;
    std::int64_t done = 0;
    for (std::size_t learned = 0; learned < series.size(); ++learned) {
      for (std::int64_t fold = 0; fold < detector.folds; ++fold, ++done) {
        const std::string what = fmt::format("detect {}, fold {} of {}", series[learned].text, fold + 1, detector.folds);
        if (progress && !progress(done, total, what)) return false;
        if (auto learnedFold = learn(learned, fold); !learnedFold) return tl::unexpected(learnedFold.error());
      }
    }
    return true;
  }

  std::vector<Detected> detected() const {
    const auto whole = [&](const std::vector<double>& ofFolds) { return std::ssize(ofFolds) == detector.folds; };
    std::vector<Detected> all;
    for (std::size_t m = 0; m < series.size(); ++m) {
      Detected& method = all.emplace_back();
      method.method = series[m].text;
      for (std::size_t i = 0; i < foldOf.size(); ++i) method.pairs += hasMoved(m, i) ? 1 : 0;
      for (std::size_t learned = 0; learned < series.size(); ++learned) {
        const std::vector<double>& ofFolds = areas[learned][m];
        method.areaByLearned.push_back(whole(ofFolds) ? std::optional(meanOf(ofFolds)) : std::nullopt);
      }
      method.area = method.areaByLearned[m];
      if (method.area) method.deviation = deviationOf(areas[m][m]);
    }
    return all;
  }

  std::optional<double> secondsOfScore() const {
    return scores > 0 ? std::optional(scoring / static_cast<double>(scores)) : std::nullopt;
  }

private:
  bool hasMoved(std::size_t method, std::size_t example) const { return series[method].points[example].linf > 0; }

  Result<void> learn(std::size_t learned, std::int64_t fold) {
    std::vector<LabelledRow> rows;
    for (std::size_t i = 0; i < foldOf.size(); ++i) {
      if (foldOf[i] == fold || !hasMoved(learned, i)) continue;
      rows.push_back({ofPoints[learned].row(i), true});
      rows.push_back({ofExamples.row(i), false});
    }
    if (rows.empty()) return {};
    const auto machine = separate(rows, detector.cost);
    if (!machine) return failure(Kind::Environment, machine.error());
    for (std::size_t m = 0; m < series.size(); ++m) addArea(*machine, fold, m, areas[learned][m]);
    return {};
  }

  /// At the pairs of one method in a fold, where there are any.
  void addArea(const LinearMachine& machine, std::int64_t fold, std::size_t method, std::vector<double>& into) {
    std::vector<std::span<const float>> points, examples;
    for (std::size_t i = 0; i < foldOf.size(); ++i) {
      if (foldOf[i] != fold || !hasMoved(method, i)) continue;
      points.push_back(ofPoints[method].row(i));
      examples.push_back(ofExamples.row(i));
    }
    if (!points.empty()) into.push_back(areaUnderCurve(scoresOf(machine, points), scoresOf(machine, examples)));
  }

  std::vector<double> scoresOf(const LinearMachine& machine, const std::vector<std::span<const float>>& rows) {
    std::vector<double> all(rows.size());
    const auto start = std::chrono::steady_clock::now();
    std::ranges::transform(rows, all.begin(), [&](std::span<const float> row) { return machine.score(row); });
    scoring += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    scores += std::ssize(rows);
    return all;
  }

  const DetectorPlan& detector;
  const std::vector<Series>& series;
  const Features ofExamples;
  const std::vector<Features> ofPoints;                 ///< by method
  std::vector<std::int64_t> foldOf;                     ///< by example
  std::vector<std::vector<std::vector<double>>> areas;  ///< by learned method, by method, of folds that have pairs of it
  double scoring = 0;                                   ///< seconds
  std::int64_t scores = 0;
};

}  // namespace

double detectionBytes(const DetectorPlan& detector, const FirstLayer& layer, std::size_t methods) {
  const tbem_operand& output = layer.network->buffers[layer.network->outputs.back()].operand;
  const auto numbers = static_cast<double>(runtime::elementCount(output));
  const double count = static_cast<double>(detector.count), rows = count * (1 + static_cast<double>(methods));
  constexpr double kNode = 16;  // of liblinear, for each number of an example and its point
  return rows * numbers * sizeof(float) + 2 * count * numbers * kNode;
}

tl::expected<std::optional<Detection>, Failure> detect(const Searched& searched, const DetectorPlan& detector,
                                                       const FirstLayer& layer, const DefenceProgress& progress) {
  const std::vector<Series>& series = searched.series;
  const Plan fewer = oneByOne(searched.plan, detector.count);
  LayerReader reader(fewer, searched.dataset, searched.victim, layer);
  if (auto done = reader.prepare(); !done) return tl::unexpected(done.error());
  Features ofExamples;
  std::vector<Features> ofPoints(series.size());
  for (std::int64_t number = 0; number < reader.batches(); ++number) {
    const std::string what = fmt::format("detect, example {} of {}", number + 1, reader.batches());
    if (progress && !progress(number, reader.batches(), what)) return std::optional<Detection>();
    if (auto done = reader.add(number, series, ofExamples, ofPoints); !done) return tl::unexpected(done.error());
  }
  Detection detection;
  detection.layer = layer.name;
  detection.numbers = static_cast<std::int64_t>(ofExamples.size);
  CrossValidation validation(fewer, detector, series, std::move(ofExamples), std::move(ofPoints));
  const auto whole = validation.run(progress);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) return std::optional<Detection>();
  detection.ofMethods = validation.detected();
  detection.seconds = validation.secondsOfScore();
  return std::optional(std::move(detection));
}

}  // namespace tbem::perturb
