// Measurements as JSON lines and as a table.
#pragma once

#include "compiler/driver/Campaigns.h"
#include "runtime/core/Measurement.h"

namespace tbem::driver {

/// One `measure` object.
void printMeasurement(const runtime::Case& one, const runtime::Measurement& value, const Tuning& tuning, bool reused);
/// The objects of the rows that were finished before this campaign.
void printReused(store::Store& store, const std::vector<CaseRow>& rows, const measure::CampaignResult& result);
/// A table a design: medians over the repeats of each row.
void printMeasurements(store::Store& store, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                       const Options& options);

/// The median over the repeats that are ok of one field; nothing where no repeat has it.
template <class T>
std::optional<double> medianOf(const std::vector<store::Stored>& repeats, std::optional<T> runtime::Measurement::*field);

}  // namespace tbem::driver
