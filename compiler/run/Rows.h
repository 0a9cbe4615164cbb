// Rows on their way to a device: each is elaborated once, and lowered once for a backend.
#pragma once

#include "compiler/lower/program/Link.h"
#include "compiler/run/Lowered.h"
#include "compiler/support/Failed.h"

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tbem::driver {

/// One row on its way. Which one: its design and its number there; once it is lowered also for which backend, and how the
/// algorithms were chosen.
struct RowState {
  DesignRun* run = nullptr;
  std::size_t row = 0;
  std::string backend;                                   ///< after `lower`
  Tuning tuning;                                         ///< after `lower`
  std::optional<graph::Row> elaborated;                  ///< after `graph`
  std::optional<estimate::Program> program;              ///< after `lower`
  std::optional<estimate::Recomputation> recomputation;  ///< after `lower`, with a clause `checkpoint`
  std::optional<jit::Compiled> compiled;                 ///< after `code`
};

/// Whether all elements of an elaborated row are of types that native loops compute with.
bool hasLoopTypes(const RowState& row);

/// Timing, on this machine, of algorithms that were never timed here, before rows are lowered with the fastest.
struct Timing {
  Events& events;
  std::string failed;  ///< why they could not be timed; the default ones are taken
};

/// Lowers an elaborated row for a device. `timing`: nullptr: nothing is timed.
tl::expected<void, estimate::LowerError> lowerInto(RowState& row, Opened& device, const estimate::LowerOptions& options,
                                                   Timing* timing);

/// A lowered row among others that run in one arena. `name`: what it does, for people.
struct NamedRow {
  std::string name;
  const RowState* row = nullptr;
};
/// As functions of one arena, in this order.
std::vector<estimate::Function> functionsOf(const std::vector<NamedRow>& rows);
/// Their native code, in this order; a list, as who runs them points to its elements. `architecture`: as JitOptions has it.
/// Failures: kRunFailed (they do not link), kEnvironment (one does not compile).
tl::expected<std::list<jit::Compiled>, Failed> compileTogether(const std::vector<NamedRow>& rows,
                                                               const std::string& architecture);

/// Which row is asked for.
struct RowKey {
  DesignRun* run = nullptr;
  std::size_t row = 0;
  std::string backend;
  Tuning tuning;
};

/// The rows of campaigns on all their backends: those that a command has lowered already, and others, lowered when they are
/// asked for first.
class RowTable {
public:
  /// `known`: elaborated, and lowered or not. All must outlive this.
  RowTable(const std::vector<RowState>& known, const Target& target, Events& events);

  /// Opened once for all rows.
  const Opened& backend(const std::string& name) { return open(name).opened; }
  /// As it was elaborated: nothing recomputed. Nothing where the row broke a condition, which was told.
  std::optional<graph::Row> elaborated(const DesignRun* run, std::size_t row) const;
  /// The row lowered for its backend, which must be there. `timing`: algorithms that were never timed on this machine are timed
  /// first. Valid until the next call: plans of very many rows are not all kept, and are made again. The row must have been
  /// elaborated.
  tl::expected<const RowState*, estimate::LowerError> lowered(const RowKey& key, bool timing);

  /// A design of one row that goes with a lowered row, lowered for the same backend, with what both have where it lies there.
  tl::expected<RowState, estimate::LowerError> loweredBeside(const RowState& first, DesignRun& run, graph::Row elaborated);

private:
  struct OpenedOnce {
    Opened opened;
    estimate::QueryCache queries;
  };
  using Place = std::pair<const DesignRun*, std::size_t>;
  OpenedOnce& open(const std::string& name);
  tl::expected<RowState, estimate::LowerError> make(const RowKey& key, OpenedOnce& device, bool timing) const;

  const Target& target;
  Events& events;
  std::map<Place, const RowState*> known;
  std::map<std::string, OpenedOnce> backends;
  std::map<std::tuple<Place, std::string, std::string>, RowState> kept;  ///< by backend and text of the tuning
  std::size_t keptSteps = 0;
  std::optional<RowState> passing;  ///< the last that is not kept
};

}  // namespace tbem::driver
