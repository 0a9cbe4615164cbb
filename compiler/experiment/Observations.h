// What the store has of a design's rows, each experiment once: however many `measure` blocks ask for it.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

/// What a store has of these rows, read once.
class StoredRows {
public:
  /// Errors: the store cannot be read.
  static tl::expected<StoredRows, Failed> read(store::Store& store, const std::vector<CaseRow>& rows);
  /// The finished repeats of a row that its case asks for, by repeat.
  std::vector<store::Stored> repeatsOf(const CaseRow& row) const;
  /// One more, of a row that no store has.
  void add(store::Stored repeat) { byIdentity[repeat.key.identity].push_back(std::move(repeat)); }

private:
  std::map<std::string, std::vector<store::Stored>> byIdentity;
};

/// The numbers of threads with which the store has rows of these designs, most rows first. Rows of former versions of the
/// program are among them.
std::vector<unsigned> threadsMeasured(store::Store& store, const std::vector<CaseRow>& rows);
/// With which these are measured by this run; they may differ by backend.
std::vector<unsigned> threadsOf(const std::vector<CaseRow>& rows);

/// Where and how a design was measured.
struct Place {
  std::string backend;
  std::string tune = "off";  ///< text(Tuning)
  std::string examples;      ///< MeasuredExamples::text; "": over stand-in data
  bool operator==(const Place&) const = default;
  /// "cpu", or "cpu, tune on, over fashion.test by t".
  std::string text() const;
};
Place placeOf(const CaseRow& row);
/// The places at which the campaigns measure a design, in their order, each once.
std::vector<Place> placesOf(const DesignRun& run, const std::vector<CaseRow>& rows);

/// A row of a design with all repeats that any campaign asks for.
struct Observation {
  const CaseRow* row = nullptr;  ///< the first of its cases
  std::vector<store::Stored> repeats;
};
/// In the order of the cases. Cases of one experiment are one observation, and so are rows of equal levels (of an array that
/// repeats a row), for they are measured once.
std::vector<Observation> observationsOf(const DesignRun& run, const Place& place, const std::vector<CaseRow>& rows,
                                        const StoredRows& stored);

}  // namespace tbem::driver
