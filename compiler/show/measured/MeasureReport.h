// Measurements as JSON lines and as a table.
#pragma once

#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Quantities.h"
#include "compiler/show/Out.h"
#include "runtime/core/Measurement.h"
#include "runtime/measure/Campaign.h"

namespace tbem::driver {

/// One `measure` object.
void printMeasurement(show::Out& out, const runtime::Case& one, const runtime::Measurement& value, const MeasurePlan& plan,
                      bool reused);
/// The objects of the rows that were finished before this campaign.
void printReused(show::Out& out, const StoredRows& stored, const std::vector<CaseRow>& rows,
                 const measure::CampaignResult& result);
/// A table a design: medians over the repeats of each row.
void printMeasurements(show::Out& out, const StoredRows& stored, const std::vector<MeasurePlan>& plans,
                       const std::vector<CaseRow>& rows);

/// The same rows with their estimates beside them, a table a design, as a program's run prints them.
void printRunTables(show::Out& out, const StoredRows& stored, const std::vector<MeasurePlan>& plans,
                    const std::vector<CaseRow>& rows);

/// What rows took that were run over examples, by the names of Quantities.h, and the gates' shares; null of other rows.
Json overExamplesJson(const runtime::Measurement& value);
/// Whether rows that are run over these have it.
bool isShown(const ExampleQuantity& quantity, const MeasuredExamples& examples);
/// The median over the repeats of such a number, as a table has it.
report::Cell exampleCell(const ExampleQuantity& quantity, const std::vector<store::Stored>& repeats);

/// "ok", "left", or how the last repeat that did not end well ended.
report::Cell statusCell(const std::vector<store::Stored>& repeats);
struct RepeatCount {
  std::size_t there = 0, asked = 0;
};
/// What a heading says of the repeats of its rows: "5 repeats, medians"; "0 to 3 of 5 repeats, medians" where some are missing.
std::string repeatsText(const std::vector<RepeatCount>& counts);

/// The median over the repeats that are ok of one field; nothing where no repeat has it.
template <class T>
std::optional<double> medianOf(const std::vector<store::Stored>& repeats, std::optional<T> runtime::Measurement::*field);

}  // namespace tbem::driver
