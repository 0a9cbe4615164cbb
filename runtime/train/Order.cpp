#include "runtime/train/Order.h"

#include "runtime/core/Philox.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tbem::train {

std::vector<std::int64_t> shuffled(std::uint64_t seed, std::uint32_t epoch, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = count - 1; i > 0; --i) {
    const auto words = runtime::philoxAt(seed, kShuffleStream, epoch, static_cast<std::uint64_t>(i));
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(runtime::philoxBelow(words, i + 1))]);
  }
  return order;
}

std::int64_t heldOut(std::int64_t count, double share) {
  if (share <= 0) return 0;
  const auto held = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(share * static_cast<double>(count))));
  return std::min(held, count);
}

Partition partition(std::uint64_t seed, std::int64_t count, double share) {
  Partition parts;
  if (share <= 0) {
    parts.train.resize(static_cast<std::size_t>(count));
    std::iota(parts.train.begin(), parts.train.end(), 0);
    return parts;
  }
  const std::vector<std::int64_t> order = shuffled(seed, std::numeric_limits<std::uint32_t>::max(), count);
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(heldOut(count, share));
  parts.validation.assign(order.begin(), first);
  parts.train.assign(first, order.end());
  std::sort(parts.validation.begin(), parts.validation.end());
  std::sort(parts.train.begin(), parts.train.end());
  return parts;
}

}  // namespace tbem::train
