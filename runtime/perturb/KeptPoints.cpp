#include "runtime/perturb/KeptPoints.h"

#include "runtime/perturb/PointText.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

std::vector<std::byte> bytesOf(const std::vector<float>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<float> numbersOf(const std::vector<std::byte>& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

}  // namespace

Result<KeptPoints> KeptPoints::open(const Keeping& keeping, store::Mode mode) {
  KeptPoints kept(keeping);
  if (keeping.store.empty()) return kept;
  auto opened = store::Store::open(keeping.store, mode);
  if (!opened) return failure(Kind::Environment, opened.error().message);
  kept.store.emplace(std::move(*opened));
  return kept;
}

Result<Points> KeptPoints::of(const Method& method, const Plan& plan, std::int64_t total, std::size_t gates) {
  Points points;
  if (!store || keeping.fresh) return points;
  const auto all = store->points(method.identity, plan.keepInputs ? store::Inputs::Read : store::Inputs::Leave);
  if (!all) return failure(Kind::Environment, all.error().message);
  for (const store::StoredPoint& stored : *all) {
    if (stored.example >= total) break;
    auto point = pointOf(stored.example, stored.text);
    if (!point || point->decisions.size() != gates) {
      return failure(
          Kind::Environment,
          fmt::format("store {}: what it has of {}, example {}, cannot be taken up: {}; --again searches anew", keeping.store,
                      method.text, stored.example, point ? "it is of a network with other gates" : point.error()));
    }
    const bool isMeasured = (plan.repeats == 0 || point->latency > 0) && (plan.energySeconds == 0 || point->energy > 0);
    if (isMeasured) points.emplace(stored.example, Found{std::move(*point), numbersOf(stored.input)});
  }
  return points;
}

Result<void> KeptPoints::add(const Method& method, const std::vector<Found>& found) {
  if (!store) return {};
  std::vector<store::StoredPoint> rows;
  rows.reserve(found.size());
  for (const Found& one : found) rows.push_back({one.point.example, textOf(one.point), bytesOf(one.input)});
  if (auto done = store->commitPoints(method.identity, rows); !done) return failure(Kind::Environment, done.error().message);
  return {};
}

}  // namespace tbem::perturb
