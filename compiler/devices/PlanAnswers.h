// What cuDNN says of a card that is not here and that steps are planned for, kept between commands (EngineSource.h).
#pragma once

#include "compiler/devices/AskedDevice.h"
#include "compiler/devices/EngineSource.h"

#include <cstddef>
#include <optional>
#include <string>

namespace tbem::driver {

/// The backend `cuda` plans for the card from then on. While this lives, it asks here about the card, and afterwards cuDNN
/// itself.
class PlanAnswers {
public:
  explicit PlanAnswers(const DescribedDevice& card);
  ~PlanAnswers();
  PlanAnswers(const PlanAnswers&) = delete;
  PlanAnswers& operator=(const PlanAnswers&) = delete;

  /// Why the file of what it said before is not believed, or "".
  std::string refused() const { return source ? source->refused() : std::string(); }
  /// Adds what was asked anew to the file. "" or why not.
  std::string keep() { return source ? source->keep() : std::string(); }

private:
  Events silent;  ///< of `source`: whoever plans shows how far it is
  std::size_t asked = 0;
  std::optional<EngineSource> source;  ///< nothing: no cuDNN lies at a place that is known; the backend looks further, or says so
};

}  // namespace tbem::driver
