// What a test asks of the card.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tbem::card {

struct Settings {
  std::uint64_t memory = 4ULL << 30;  ///< bytes
  unsigned computeCapability = 90;    ///< 90 for 9.0
  bool written = true;                ///< reads of what was never written are reported
  bool races = true;                  ///< accesses that nothing orders are reported
  bool backward = false;              ///< blocks, and threads between barriers, run from the last to the first
  std::string report;                 ///< file to which reports are appended; empty: stderr
  std::uint64_t context = 0;          ///< bytes that the context takes, as cuMemGetInfo says
  std::uint64_t late = 0;             ///< and that are taken when a kernel is first launched
  std::string left;                   ///< file for what was never released when the process ends; empty: none
  std::string keep;                   ///< folder into which the texts of loaded modules are written; empty: none
  /// What a call of a function of the driver answers instead of what it would do, by the function's name and the number of the
  /// call, from 1.
  std::map<std::string, std::map<unsigned, int>, std::less<>> failures;
};

/// From TBEM_CARD_MEMORY, TBEM_CARD_SM, TBEM_CARD_CHECKS, TBEM_CARD_ORDER, TBEM_CARD_REPORT, TBEM_CARD_CONTEXT, TBEM_CARD_LEFT,
/// TBEM_CARD_KEEP and TBEM_CARD_FAIL (test/card/README.md).
/// Throws std::invalid_argument with a text that names the variable.
Settings settingsOfEnvironment();

}  // namespace tbem::card
