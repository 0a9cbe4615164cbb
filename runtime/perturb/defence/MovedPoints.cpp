#include "runtime/perturb/defence/MovedPoints.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::perturb {

Result<std::vector<float>> pointsOf(const Series& series, const Batch& batch) {
  std::vector<float> points = batch.inputs;
  const std::size_t size = batch.inputs.size() / batch.examples.size();
  for (std::size_t place = 0; place < static_cast<std::size_t>(batch.count); ++place) {
    const auto example = static_cast<std::size_t>(batch.examples[place]);
    if (example >= series.points.size() || series.inputs.size() != series.points.size() * size)
      return failure(Failure::Kind::Run, fmt::format("{}: the numbers of point {} are not there", series.text, example));
    std::copy_n(series.inputs.begin() + static_cast<std::ptrdiff_t>(example * size), size,
                points.begin() + static_cast<std::ptrdiff_t>(place * size));
  }
  return points;
}

}  // namespace tbem::perturb
