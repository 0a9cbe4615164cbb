#include "compiler/pytorch/eager/SumBuffers.h"

#include <algorithm>
#include <bit>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kMostThreads = 512, kWarp = 32;
/// Values that a thread adds: below the first an output is not split over blocks; the others bound how often it is.
constexpr std::uint64_t kSplitFrom = 256, kLeastAfter = 16, kMostAfter = 256;

std::uint64_t upTo(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

}  // namespace

SumBuffers sumBuffers(std::uint64_t rows, std::uint64_t columns, std::uint64_t accumulator, const SumUnits& units) {
  // With one column the elements lie one after the other: another rule, and a few bytes.
  if (units.multiprocessors <= 0 || units.threadsPerMultiprocessor <= 0 || rows == 0 || columns < 2) return {};
  const std::uint64_t vector = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
  const std::uint64_t threads = kMostThreads / vector, outputs = columns / vector;
  const auto fitted = [threads](std::uint64_t length) { return length < threads ? std::bit_floor(length) : threads; };
  std::uint64_t width = std::min(fitted(outputs), kWarp);
  const std::uint64_t height = std::min(fitted(rows), threads / width);
  width = std::min(fitted(outputs), threads / height);
  const bool together = rows >= 16 * height || rows >= kSplitFrom;  // the threads of a column add the same output
  const std::uint64_t values = together ? upTo(rows, height) : rows;
  const std::uint64_t grid = upTo(outputs, together ? width : width * height);
  const std::uint64_t resident = static_cast<std::uint64_t>(units.threadsPerMultiprocessor) / (width * height);
  const std::uint64_t target = static_cast<std::uint64_t>(units.multiprocessors) * resident;
  if (!together || values < kSplitFrom || grid > target) return {};
  const std::uint64_t blocks = std::max(std::min(upTo(target, grid), upTo(values, kLeastAfter)), upTo(values, kMostAfter));
  if (blocks < 2) return {};
  return {accumulator * columns * blocks * width * vector, 4 * grid};
}

}  // namespace tbem::estimate
