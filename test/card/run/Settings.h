// What a test asks of the card.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
  std::uint64_t module = 0;           ///< that each loaded module takes,
  std::uint64_t graph = 0;            ///< and each prepared graph
  unsigned cards = 1;                 ///< of the machine; all memory and all calls are of the one that the process uses
  unsigned others = 0;                ///< of these, the last ones that have another name
  std::vector<unsigned> visible{0};   ///< those that the process sees, in its order
  std::string left;                   ///< file for what was never released when the process ends; empty: none
  std::string counted;                ///< file for how often each function was called; empty: none
  std::string keep;                   ///< folder into which the texts of loaded modules are written; empty: none
  /// What a call of a function of the driver answers instead of what it would do, by the function's name and the number of the
  /// call, from 1.
  std::map<std::string, std::map<unsigned, int>, std::less<>> failures;
};

/// From TBEM_CARD_MEMORY, TBEM_CARD_SM, TBEM_CARD_CHECKS, TBEM_CARD_ORDER, TBEM_CARD_REPORT, TBEM_CARD_CONTEXT, TBEM_CARD_CODE,
/// TBEM_CARD_LEFT, TBEM_CARD_CALLS, TBEM_CARD_KEEP, TBEM_CARD_COUNT and TBEM_CARD_FAIL (test/card/README.md), and from
/// CUDA_VISIBLE_DEVICES.
/// Throws std::invalid_argument with a text that names the variable.
Settings settingsOfEnvironment();

/// Of a card of the machine by its number: "GPU-7465626d-0000-0000-0000-000000000001".
std::string uuidOf(unsigned card);

}  // namespace tbem::card
