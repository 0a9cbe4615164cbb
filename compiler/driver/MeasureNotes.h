// What is to be known of measured rows beside their numbers.
#pragma once

#include "compiler/driver/Observations.h"

namespace tbem::driver {

/// Whether the loss was finite in every repeat of which that is known.
bool lossesAreFinite(const std::vector<store::Stored>& repeats);
/// Lines below the table of these rows: losses that are not finite.
void sayMeasureNotes(const std::vector<Observation>& rows);

}  // namespace tbem::driver
