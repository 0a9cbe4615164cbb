#include "compiler/backends/CardSteps.h"

#include "compiler/backends/Backends.h"
#include "runtime/measure/Meters.h"

#include <algorithm>
#include <optional>

namespace tbem::driver {

namespace {

template <class Number, class Choose>
void take(std::optional<Number>& into, const std::optional<Number>& found, const Choose& choose) {
  if (found) into = into ? choose(*into, *found) : *found;
}

}  // namespace

CardSteps::CardSteps(const tbem_backend& backend) : backend(backend), card(cardBusId()) {}

CardSteps::~CardSteps() {
  if (other != nullptr) backend.release(other, otherBytes);
  cuda::endTimer();
}

void CardSteps::time(Timing steps) {
  timing = steps;
  if (steps == Timing::Off || other != nullptr) return;
  // Twice, as what is written once may be kept beside what was there. A margin stays for what steps may still take.
  constexpr std::uint64_t kMargin = std::uint64_t{32} << 20U;
  (void)cuda::openTimer();  // where it fails, the first step that is timed says so
  otherBytes = 2 * cuda::cacheBytes();
  void* margin = nullptr;
  if (otherBytes == 0 || backend.allocate(kMargin, &margin) != TBEM_OK) return;
  if (backend.allocate(otherBytes, &other) != TBEM_OK) other = nullptr;
  backend.release(margin, kMargin);
}

tbem_status CardSteps::begin() {
  if (timing == Timing::Off) return TBEM_OK;
  if (other != nullptr) {
    if (const tbem_status status = backend.device->zero(other, otherBytes)) return status;
  }
  return cuda::startTimer();
}

tbem_status CardSteps::end() {
  if (timing == Timing::Off) return TBEM_OK;
  const tbem_status status = cuda::stopTimer();
  constexpr double kEach = 0.1;  // seconds
  if (timing == Timing::Kept && measure::monotonicSeconds() - looked > kEach) look();
  return status;
}

tl::expected<double, std::string> CardSteps::seconds() {
  double seconds = 0;
  if (cuda::readTimer(seconds) != TBEM_OK) return tl::unexpected(std::string(backend.last_error()));
  return seconds;
}

void CardSteps::look() {
  looked = measure::monotonicSeconds();
  const measure::CardState now = card.state();
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  take(seen.clock, now.clock, least);
  take(seen.memoryClock, now.memoryClock, least);
  take(seen.temperature, now.temperature, most);
  take(seen.heldBack, now.heldBack, [](auto a, auto b) { return a | b; });
}

void CardSteps::keepIn(runtime::Measurement& result) const {
  result.clock = seen.clock;
  result.memoryClock = seen.memoryClock;
  result.temperature = seen.temperature;
  result.throttled = seen.heldBack ? measure::throttlesOf(*seen.heldBack) : measure::kThrottlesUnknown;
  result.caches = other != nullptr ? "cold" : "warm";
}

std::unique_ptr<CardSteps> cardStepsOf(const tbem_backend& backend) {
  return &backend == tbem_backend_cuda() ? std::make_unique<CardSteps>(backend) : nullptr;
}

}  // namespace tbem::driver
