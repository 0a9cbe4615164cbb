// Why a launch ended before its kernel did.
#pragma once

#include <stdexcept>
#include <string>

namespace tbem::card {

/// A number of CUresult that a launch can end with.
enum class FaultKind : int { IllegalAddress = 700, Misaligned = 716, Trap = 719, Deadlock = 702, Race = 700, Collective = 715 };

/// Thrown out of a kernel; does not leave `runLaunch` (run/Launch.h). The text says what happened, the kind what the driver
/// answers.
struct Fault : std::runtime_error {
  Fault(FaultKind of, const std::string& text) : std::runtime_error(text), kind(of) {}
  FaultKind kind;
};

}  // namespace tbem::card
