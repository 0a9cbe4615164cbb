// The tables, and how an older file is brought up to them. Append a step; never change one that was released.
#include "runtime/store/Connection.h"

#include <fmt/format.h>

namespace tbem::store {
namespace {

constexpr std::int64_t kApplication = 0x5442454D;  // "TBEM", in the file's header

/// Step i brings a file from version i to i + 1.
constexpr const char* kSteps[] = {
    // A design's row names an experiment; one experiment may be a row of several designs.
    "CREATE TABLE cases ("
    "  identity TEXT NOT NULL, design TEXT NOT NULL, row INTEGER NOT NULL,"
    "  levels TEXT NOT NULL, backend TEXT NOT NULL, registered REAL NOT NULL,"
    "  PRIMARY KEY (identity, design, row)) STRICT;"
    "CREATE INDEX cases_by_design ON cases (design, backend, row);"
    // Bytes, seconds, joules; `samples`: seconds of each step, little-endian binary64.
    "CREATE TABLE results ("
    "  identity TEXT NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
    "  memory_peak INTEGER, memory_baseline INTEGER, memory_reason TEXT NOT NULL, arena_peak INTEGER, arena_planned INTEGER,"
    "  latency_median REAL, latency_p05 REAL, latency_p95 REAL, samples BLOB NOT NULL,"
    "  energy REAL, energy_reason TEXT NOT NULL, static_memory INTEGER, live INTEGER, arena INTEGER,"
    "  machine TEXT NOT NULL, versions TEXT NOT NULL, started REAL NOT NULL, finished REAL NOT NULL, time_limit REAL NOT NULL,"
    "  PRIMARY KEY (identity, repeat),"
    "  CHECK (status IN ('ok', 'oom', 'failed', 'timeout', 'skipped'))) STRICT;",
    "ALTER TABLE results ADD COLUMN loss_not_finite TEXT NOT NULL DEFAULT '';",
    // Shares from 0 to 1, and a load average.
    "ALTER TABLE results ADD COLUMN others REAL;"
    "ALTER TABLE results ADD COLUMN stolen REAL;"
    "ALTER TABLE results ADD COLUMN waited REAL;"
    "ALTER TABLE results ADD COLUMN load_average REAL;",
    // Bytes of a device, as a framework's allocator counts them.
    "ALTER TABLE results ADD COLUMN allocated_peak INTEGER;"
    "ALTER TABLE results ADD COLUMN reserved_peak INTEGER;"
    "ALTER TABLE results ADD COLUMN device_peak INTEGER;",
    // `input`: little-endian binary32, in row-major order.
    "CREATE TABLE points ("
    "  identity TEXT NOT NULL, example INTEGER NOT NULL, text TEXT NOT NULL, input BLOB NOT NULL,"
    "  PRIMARY KEY (identity, example)) STRICT;",
    // Of rows that are run over a data set; `examples`: perturb/Costs.h.
    "ALTER TABLE results ADD COLUMN mean_flops REAL;"
    "ALTER TABLE results ADD COLUMN least_flops REAL;"
    "ALTER TABLE results ADD COLUMN most_flops REAL;"
    "ALTER TABLE results ADD COLUMN mean_latency REAL;"
    "ALTER TABLE results ADD COLUMN least_latency REAL;"
    "ALTER TABLE results ADD COLUMN most_latency REAL;"
    "ALTER TABLE results ADD COLUMN accuracy REAL;"
    "ALTER TABLE results ADD COLUMN coverage REAL;"
    "ALTER TABLE results ADD COLUMN correlation REAL;"
    "ALTER TABLE results ADD COLUMN examples TEXT NOT NULL DEFAULT '';",
    // Of rows whose examples are attacked.
    "ALTER TABLE results ADD COLUMN attacked_flops REAL;"
    "ALTER TABLE results ADD COLUMN increase_mean REAL;"
    "ALTER TABLE results ADD COLUMN headroom REAL;"
    "ALTER TABLE results ADD COLUMN raised_share REAL;"
    "ALTER TABLE results ADD COLUMN attacked_accuracy REAL;"
    "ALTER TABLE results ADD COLUMN psnr REAL;",
    // Bytes of a card, of rows on `cuda`, and watts.
    "ALTER TABLE results ADD COLUMN device_context INTEGER;"
    "ALTER TABLE results ADD COLUMN device_arena INTEGER;"
    "ALTER TABLE results ADD COLUMN device_prepared INTEGER;"
    "ALTER TABLE results ADD COLUMN device_steps INTEGER;"
    "ALTER TABLE results ADD COLUMN idle_power REAL;",
    // Which of equal cards a row ran on.
    "ALTER TABLE results ADD COLUMN card TEXT NOT NULL DEFAULT '';",
    // Joules of an example, of rows that are run over a data set.
    "ALTER TABLE results ADD COLUMN mean_energy REAL;"
    "ALTER TABLE results ADD COLUMN least_energy REAL;"
    "ALTER TABLE results ADD COLUMN most_energy REAL;"
    "ALTER TABLE results ADD COLUMN energy_correlation REAL;",
    // Bytes of a card, by what takes them, where `device_prepared` and `device_steps`, which are not written any more, said when.
    // `arena_kinds`: a JSON object.
    "ALTER TABLE results ADD COLUMN device_buffers INTEGER;"
    "ALTER TABLE results ADD COLUMN device_modules INTEGER;"
    "ALTER TABLE results ADD COLUMN device_handles INTEGER;"
    "ALTER TABLE results ADD COLUMN device_plans INTEGER;"
    "ALTER TABLE results ADD COLUMN device_late INTEGER;"
    "ALTER TABLE results ADD COLUMN device_recordings INTEGER;"
    "ALTER TABLE results ADD COLUMN device_process INTEGER;"
    "ALTER TABLE results ADD COLUMN arena_kinds TEXT NOT NULL DEFAULT '';",
    // Of rows on `cuda`, whose seconds are of the card's own clock from here on, and how it was meanwhile.
    "ALTER TABLE results ADD COLUMN latency_host REAL;"
    "ALTER TABLE results ADD COLUMN warmup_steps REAL;"
    "ALTER TABLE results ADD COLUMN warmup_spread REAL;"
    "ALTER TABLE results ADD COLUMN caches TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE results ADD COLUMN clock REAL;"
    "ALTER TABLE results ADD COLUMN memory_clock REAL;"
    "ALTER TABLE results ADD COLUMN temperature REAL;"
    "ALTER TABLE results ADD COLUMN throttled TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE results ADD COLUMN energy_dynamic REAL;"};
static_assert(std::size(kSteps) == kSchemaVersion);

}  // namespace

namespace {

struct Marks {
  std::int64_t tables = 0, application = 0, version = 0;
};

/// All three as of one moment: another process may be making the tables right now.
Result<Marks> readMarks(Connection& connection) {
  if (auto begun = connection.run("SAVEPOINT marks"); !begun) return tl::unexpected(begun.error());
  Marks marks;
  Result<void> outcome;
  const auto read = [&](const char* sql, std::int64_t& to) {
    if (!outcome) return;
    auto value = connection.number(sql);
    if (value)
      to = *value;
    else
      outcome = tl::unexpected(value.error());
  };
  read("SELECT count(*) FROM sqlite_schema", marks.tables);
  read("PRAGMA application_id", marks.application);
  read("PRAGMA user_version", marks.version);
  auto released = connection.run("RELEASE marks");
  if (!outcome) return tl::unexpected(outcome.error());
  if (!released) return tl::unexpected(released.error());
  return marks;
}

}  // namespace

Result<int> schemaVersion(Connection& connection) {
  auto marks = readMarks(connection);
  if (!marks) return tl::unexpected(marks.error());
  if (marks->application != kApplication) {
    if (marks->tables == 0 && marks->application == 0 && marks->version == 0) return 0;
    return tl::unexpected(errorOf(connection.file, SQLITE_NOTADB, 0, "an SQLite database of another program"));
  }
  if (marks->version > kSchemaVersion) {
    Error newer{Error::Kind::NewerSchema, connection.file, 0, {}};
    newer.message = fmt::format(
        "store {}: has tables of version {}, this tbemc knows up to {}; use the newer tbemc that wrote it, or give another place "
        "with --store",
        connection.file, marks->version, kSchemaVersion);
    return tl::unexpected(newer);
  }
  if (marks->version < 1)
    return tl::unexpected(
        errorOf(connection.file, SQLITE_CORRUPT, 0, fmt::format("its tables are of version {}", marks->version)));
  return static_cast<int>(marks->version);
}

Result<void> migrate(Connection& connection) {
  auto before = schemaVersion(connection);
  if (!before) return tl::unexpected(before.error());
  if (*before == kSchemaVersion) return {};
  Transaction transaction(connection);
  if (auto begun = transaction.begin(); !begun) return begun;
  // Another process may have done it while this one waited for the lock.
  auto version = schemaVersion(connection);
  if (!version) return tl::unexpected(version.error());
  for (int step = *version; step < kSchemaVersion; ++step)
    if (auto done = connection.run(kSteps[step]); !done) return done;
  const std::string stamp = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kSchemaVersion);
  if (auto done = connection.run(stamp.c_str()); !done) return done;
  return transaction.commit();
}

}  // namespace tbem::store
