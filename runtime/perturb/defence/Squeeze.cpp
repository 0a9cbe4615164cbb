#include "runtime/perturb/Network.h"
#include "runtime/perturb/defence/Defence.h"
#include "runtime/perturb/defence/MovedPoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

void roundToBits(std::int64_t bits, const Plan& plan, std::vector<float>& numbers) {
  const double steps = std::exp2(static_cast<double>(bits)) - 1, width = plan.high - plan.low;
  for (float& number : numbers)
    number = static_cast<float>(plan.low + std::nearbyint((number - plan.low) / width * steps) / steps * width);
}

/// A place outside of a line of numbers, mirrored at the edge, with the number at the edge twice: -1 is 0, -2 is 1.
std::int64_t mirrored(std::int64_t place, std::int64_t size) {
  const std::int64_t period = 2 * size;
  place = ((place % period) + period) % period;
  return place < size ? place : period - 1 - place;
}

/// One channel.
std::vector<float> medians(std::span<const float> channel, std::int64_t height, std::int64_t width, std::int64_t size) {
  std::vector<float> smooth(channel.size());
  std::vector<float> window(static_cast<std::size_t>(size * size));
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      auto next = window.begin();
      for (std::int64_t i = row - size / 2; i < row - size / 2 + size; ++i) {
        for (std::int64_t j = column - size / 2; j < column - size / 2 + size; ++j)
          *next++ = channel[static_cast<std::size_t>(mirrored(i, height) * width + mirrored(j, width))];
      }
      const auto middle = window.begin() + std::ssize(window) / 2;
      std::ranges::nth_element(window, middle);
      smooth[static_cast<std::size_t>(row * width + column)] = *middle;
    }
  }
  return smooth;
}

void takeMedians(std::int64_t size, const std::vector<std::int64_t>& shape, std::vector<float>& numbers) {
  const std::size_t area = static_cast<std::size_t>(shape[1] * shape[2]);
  for (std::size_t first = 0; first < numbers.size(); first += area) {
    const std::vector<float> smooth = medians(std::span(numbers).subspan(first, area), shape[1], shape[2], size);
    std::ranges::copy(smooth, numbers.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// Squeezed examples and points through the network, batch after batch.
class SqueezeRun {
public:
  SqueezeRun(const Searched& searched, const std::vector<Squeezer>& squeezers)
      : searched(searched),
        squeezers(squeezers),
        victim(searched.victim),
        examples(searched.plan, searched.dataset),
        points(squeezers.size(), std::vector<Series>(searched.series.size())) {
    victim.single = nullptr;
  }

  Result<void> prepare() {
    auto loaded = LoneNetwork::create(victim);
    if (!loaded) return tl::unexpected(loaded.error());
    lone = std::move(*loaded);
    return {};
  }

  std::int64_t batches() const { return examples.batches(); }

  Result<void> add(std::int64_t number) {
    const auto batch = examples.read(number);
    if (!batch) return tl::unexpected(batch.error());
    for (std::size_t s = 0; s < squeezers.size(); ++s) {
      const auto before = ask(squeezers[s], batch->inputs);
      if (!before) return tl::unexpected(before.error());
      for (std::size_t m = 0; m < searched.series.size(); ++m) {
        auto numbers = pointsOf(searched.series[m], *batch);
        if (!numbers) return tl::unexpected(numbers.error());
        const auto after = ask(squeezers[s], std::move(*numbers));
        if (!after) return tl::unexpected(after.error());
        for (std::size_t i = 0; i < static_cast<std::size_t>(batch->count); ++i)
          add((*before)[i], (*after)[i], batch->labels[i], points[s][m]);
      }
    }
    return {};
  }

  std::vector<Squeezed> squeezed() const {
    std::vector<Squeezed> all;
    for (std::size_t s = 0; s < squeezers.size(); ++s)
      for (std::size_t m = 0; m < searched.series.size(); ++m)
        all.push_back({squeezers[s].text, searched.series[m].text, summarise(points[s][m], victim)});
    return all;
  }

private:
  static void add(const Answer& before, const Answer& after, std::int64_t label, Series& into) {
    Point& point = into.points.emplace_back();
    point.label = label;
    point.before = before.prediction;
    point.after = after.prediction;
    point.flopsBefore = before.flops;
    point.flops = after.flops;
  }

  Result<std::vector<Answer>> ask(const Squeezer& squeezer, std::vector<float> numbers) {
    squeeze(squeezer, searched.plan, searched.dataset.description().inputs.front().shape, numbers);
    return lone.network->ask(numbers);
  }

  const Searched& searched;
  const std::vector<Squeezer>& squeezers;
  Victim victim;  ///< in batches alone
  const Examples examples;
  std::vector<std::vector<Series>> points;  ///< by squeezer, by method: what the network did with squeezed examples and points
  LoneNetwork lone;
};

}  // namespace

void squeeze(const Squeezer& squeezer, const Plan& plan, const std::vector<std::int64_t>& shape, std::vector<float>& numbers) {
  if (squeezer.kind == Squeezer::Kind::Bits)
    roundToBits(squeezer.size, plan, numbers);
  else
    takeMedians(squeezer.size, shape, numbers);
}

tl::expected<std::optional<std::vector<Squeezed>>, Failure> squeezeAll(const Searched& searched,
                                                                       const std::vector<Squeezer>& squeezers,
                                                                       const DefenceProgress& progress) {
  SqueezeRun run(searched, squeezers);
  if (auto done = run.prepare(); !done) return tl::unexpected(done.error());
  for (std::int64_t number = 0; number < run.batches(); ++number) {
    const std::string what = fmt::format("squeeze, batch {} of {}", number + 1, run.batches());
    if (progress && !progress(number, run.batches(), what)) return std::optional<std::vector<Squeezed>>();
    if (auto done = run.add(number); !done) return tl::unexpected(done.error());
  }
  return std::optional(run.squeezed());
}

}  // namespace tbem::perturb
