// How rows on a card were timed, and in what state the card was meanwhile.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/experiment/Observations.h"
#include "compiler/show/Out.h"
#include "runtime/core/Measurement.h"

#include <vector>

namespace tbem::driver {

/// Null: it was timed on no card.
Json timingJson(const runtime::Measurement& value);

/// A table of the rows on cards, of each the repeat in the middle by latency; none where no row was on one.
void printCardTimings(show::Out& out, const std::vector<Observation>& measured);

}  // namespace tbem::driver
