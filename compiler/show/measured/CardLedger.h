// What rows took of a card's memory, part by part.
#pragma once

#include "compiler/experiment/Observations.h"
#include "compiler/show/Out.h"
#include "runtime/core/Measurement.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::driver {

/// A part of `devicePeak`. Nothing: it was not reached, or other processes gave memory back meanwhile.
struct LedgerPart {
  const char* key;    ///< in JSON
  const char* title;  ///< of a table's column
  std::optional<std::int64_t> bytes;
};
/// In the order in which they are taken. The last, `unexplained`, is what is left of the sum: below zero where others gave memory
/// back. Empty: the row was on no card.
std::vector<LedgerPart> ledgerOf(const runtime::Measurement& value);

/// A table of the rows on cards, of each the repeat that took most; none where no row was on one.
void printCardLedgers(show::Out& out, const std::vector<Observation>& measured);

}  // namespace tbem::driver
