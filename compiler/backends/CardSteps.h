// Steps on the card of `cuda`, timed by its own clock.
#pragma once

#include "runtime/core/WorkMarks.h"
#include "runtime/measure/DeviceMeter.h"
#include "runtime/measure/Nvml.h"
#include "tbem/backend.h"

#include <cstdint>
#include <memory>

namespace tbem::driver {

/// Told of a step's work (Instance::tell), it writes over the card's cache in front of it, since a step that finds the one
/// before there is faster than one that does not, and puts marks around it. The card does that writing while it is asked for the
/// step, so the time of asking for a recorded one does not count. Behind the second mark, while the card is at work, it asks how
/// the card is.
class CardSteps final : public measure::DeviceMeter, public runtime::WorkMarks {
public:
  explicit CardSteps(const tbem_backend& backend);
  ~CardSteps() override;

  void time(Timing steps) override;
  tl::expected<double, std::string> seconds() override;
  void keepIn(runtime::Measurement& result) const override;

  tbem_status begin() override;
  tbem_status end() override;

private:
  void look();

  const tbem_backend& backend;
  const measure::NvmlCard card;
  Timing timing = Timing::Off;
  double looked = 0;      ///< when
  void* other = nullptr;  ///< memory of the card that is written over; null: there was none for it
  std::uint64_t otherBytes = 0;
  measure::CardState seen;  ///< the least clocks, the highest temperature, all that held the card back
};

/// Null: the backend has no card with a clock of its own.
std::unique_ptr<CardSteps> cardStepsOf(const tbem_backend& backend);

}  // namespace tbem::driver
