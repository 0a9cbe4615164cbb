// What is to be known of measured rows beside their numbers: losses that are not finite, a machine that did other work, repeats
// that differ.
#pragma once

#include "compiler/experiment/Observations.h"
#include "compiler/show/Out.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// From these on a note says so (docs/cli.md): shares of the time of all processors, of the time, and of the median.
constexpr double kBusyShare = 0.05, kWaitedShare = 0.2, kSpreadShare = 0.2;
/// The same of medians of a card's warm-up, by which they differ.
constexpr double kRestlessShare = 0.05;

/// Whether the loss was finite in every repeat of which that is known.
bool lossesAreFinite(const std::vector<store::Stored>& repeats);
/// Whether something else ran beside a measurement.
bool isBusy(const runtime::MachineLoad& load);

/// Latencies over the repeats that are ok; seconds.
struct Spread {
  double least = 0, median = 0, most = 0;
  double share() const { return median > 0 ? (most - least) / median : 0; }
};
std::optional<Spread> spreadOf(const std::vector<store::Stored>& repeats);

/// Lines below the table of these rows. `latency`: whether times are asked for.
void sayMeasureNotes(show::Out& out, const std::vector<Observation>& rows, bool latency);
/// One `measured` object a row: its repeats together.
void printMeasured(show::Out& out, const StoredRows& stored, const std::vector<CaseRow>& rows);

}  // namespace tbem::driver
