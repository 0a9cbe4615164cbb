#include "runtime/measure/CardMeter.h"

#include <chrono>
#include <thread>

namespace tbem::measure {

CardMeter::CardMeter(const std::string& busId) : card(busId) { start(); }

std::optional<std::uint64_t> CardMeter::read() {
  if (!why.empty()) return std::nullopt;
  const auto now = card.energy();
  if (now) return *now;
  why = now.error();
  return std::nullopt;
}

void CardMeter::start() { first = last = read().value_or(0); }

void CardMeter::look() { last = read().value_or(last); }

std::optional<double> CardMeter::joules() const {
  if (!why.empty()) return std::nullopt;
  return static_cast<double>(last - first) * 1e-3;
}

void CardMeter::rest(double seconds) {
  start();
  if (!why.empty()) return;
  const double begin = monotonicSeconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  look();
  const std::optional<double> used = joules();
  if (used) resting = *used / (monotonicSeconds() - begin);
}

}  // namespace tbem::measure
