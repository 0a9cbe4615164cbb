#include "runtime/store/Store.h"

#include "runtime/store/Connection.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tbem::store {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored little-endian");

/// The columns of results that were added later, the names that rows are read by, and what stands for one in older tables.
struct LaterColumn {
  int version;
  const char* name;
  const char* absent;
};
constexpr LaterColumn kLaterColumns[] = {{2, "loss_not_finite", "''"},
                                         {3, "others", "NULL"},
                                         {3, "stolen", "NULL"},
                                         {3, "waited", "NULL"},
                                         {3, "load_average", "NULL"}};

constexpr const char* kFirstColumns =
    "r.repeat, r.status, r.reason, r.memory_peak, r.memory_baseline, r.memory_reason, r.arena_peak, r.arena_planned,"
    " r.latency_median, r.latency_p05, r.latency_p95, r.samples, r.energy, r.energy_reason, r.static_memory, r.live, r.arena,"
    " r.machine, r.versions, r.started, r.finished, r.time_limit, c.identity, c.design, c.row, c.levels, c.backend";

/// What `readStored` reads, of tables of this version.
std::string columns(int version) {
  std::string text = kFirstColumns;
  for (const LaterColumn& column : kLaterColumns)
    text += std::string(", ") + (column.version <= version ? std::string("r.") + column.name : column.absent);
  return text;
}

constexpr const char* kInsert =
    "INSERT INTO results (repeat, status, reason, memory_peak, memory_baseline, memory_reason, arena_peak, arena_planned,"
    " latency_median, latency_p05, latency_p95, samples, energy, energy_reason, static_memory, live, arena,"
    " machine, versions, started, finished, time_limit, identity, loss_not_finite, others, stolen, waited,"
    " load_average)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,"
    " ?25, ?26, ?27, ?28)";

void bindMeasurement(Statement& to, const runtime::Case& key, const runtime::Measurement& value) {
  int at = 0;
  to.bind(++at, static_cast<std::int64_t>(key.repeat));
  to.bind(++at, runtime::name(value.status));
  to.bind(++at, value.reason);
  to.bind(++at, value.memoryPeak);
  to.bind(++at, value.memoryBaseline);
  to.bind(++at, value.memoryReason);
  to.bind(++at, value.arenaPeak);
  to.bind(++at, value.arenaPlanned);
  to.bind(++at, value.latencyMedian);
  to.bind(++at, value.latencyP05);
  to.bind(++at, value.latencyP95);
  to.bindBlob(++at, {reinterpret_cast<const char*>(value.samples.data()), value.samples.size() * sizeof(double)});
  to.bind(++at, value.energy);
  to.bind(++at, value.energyReason);
  to.bind(++at, value.staticMemory);
  to.bind(++at, value.live);
  to.bind(++at, value.arena);
  to.bind(++at, value.machine);
  to.bind(++at, value.versions);
  to.bind(++at, value.started);
  to.bind(++at, value.finished);
  to.bind(++at, value.timeLimit);
  to.bind(++at, key.identity);
  to.bind(++at, value.lossNotFinite);
  to.bind(++at, value.load.others);
  to.bind(++at, value.load.stolen);
  to.bind(++at, value.load.waited);
  to.bind(++at, value.load.average);
}

Stored readStored(const Statement& from) {
  Stored row;
  runtime::Measurement& value = row.value;
  int at = 0;
  row.key.repeat = static_cast<std::uint32_t>(from.integer(at++));
  value.status = runtime::statusOf(from.text(at++)).value_or(runtime::Status::Failed);
  value.reason = from.text(at++);
  value.memoryPeak = from.optionalSize(at++);
  value.memoryBaseline = from.optionalSize(at++);
  value.memoryReason = from.text(at++);
  value.arenaPeak = from.optionalSize(at++);
  value.arenaPlanned = from.optionalSize(at++);
  value.latencyMedian = from.optionalReal(at++);
  value.latencyP05 = from.optionalReal(at++);
  value.latencyP95 = from.optionalReal(at++);
  const std::string samples = from.text(at++);
  value.samples.resize(samples.size() / sizeof(double));
  if (!value.samples.empty()) std::memcpy(value.samples.data(), samples.data(), value.samples.size() * sizeof(double));
  value.energy = from.optionalReal(at++);
  value.energyReason = from.text(at++);
  value.staticMemory = from.optionalSize(at++);
  value.live = from.optionalSize(at++);
  value.arena = from.optionalSize(at++);
  value.machine = from.text(at++);
  value.versions = from.text(at++);
  value.started = from.real(at++);
  value.finished = from.real(at++);
  value.timeLimit = from.real(at++);
  row.key.identity = from.text(at++);
  row.key.design = from.text(at++);
  row.key.row = static_cast<std::uint32_t>(from.integer(at++));
  row.key.levels = from.text(at++);
  row.key.backend = from.text(at++);
  value.lossNotFinite = from.text(at++);
  value.load.others = from.optionalReal(at++);
  value.load.stolen = from.optionalReal(at++);
  value.load.waited = from.optionalReal(at++);
  value.load.average = from.optionalReal(at++);
  return row;
}

Result<void> addCase(Connection& connection, const runtime::Case& key) {
  auto insert = connection.prepare(
      "INSERT INTO cases (identity, design, row, levels, backend, registered) VALUES (?1, ?2, ?3, ?4, ?5, (julianday('now') - "
      "2440587.5) * 86400.0)"
      " ON CONFLICT (identity, design, row) DO NOTHING");
  if (!insert) return tl::unexpected(insert.error());
  insert->bind(1, key.identity);
  insert->bind(2, key.design);
  insert->bind(3, static_cast<std::int64_t>(key.row));
  insert->bind(4, key.levels);
  insert->bind(5, key.backend);
  if (auto done = connection.step(*insert); !done) return tl::unexpected(done.error());
  return {};
}

Result<std::vector<Stored>> readAll(Connection& connection, Statement& statement) {
  std::vector<Stored> rows;
  for (;;) {
    auto more = connection.step(statement);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return rows;
    rows.push_back(readStored(statement));
  }
}

}  // namespace

struct Store::Impl {
  Connection connection;
};

Store::Store(std::unique_ptr<Impl> made) : impl(std::move(made)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Result<Store> Store::open(const std::string& path, Mode mode, double busySeconds) {
  auto connection = Connection::open(path, mode, busySeconds);
  if (!connection) return tl::unexpected(connection.error());
  return Store(std::make_unique<Impl>(Impl{std::move(*connection)}));
}

const std::string& Store::path() const { return impl->connection.file; }

Result<std::vector<Finished>> Store::finished(const std::string& identity) {
  auto query = impl->connection.prepare("SELECT repeat, status, time_limit FROM results WHERE identity = ?1 ORDER BY repeat");
  if (!query) return tl::unexpected(query.error());
  query->bind(1, identity);
  std::vector<Finished> found;
  for (;;) {
    auto more = impl->connection.step(*query);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return found;
    found.push_back({static_cast<std::uint32_t>(query->integer(0)),
                     runtime::statusOf(query->text(1)).value_or(runtime::Status::Failed), query->real(2)});
  }
}

Result<std::optional<Finished>> Store::finished(const std::string& identity, std::uint32_t repeat) {
  auto all = finished(identity);
  if (!all) return tl::unexpected(all.error());
  for (const Finished& one : *all)
    if (one.repeat == repeat) return std::optional(one);
  return std::optional<Finished>();
}

Result<bool> Store::commit(const runtime::Case& key, const runtime::Measurement& value, Existing existing) {
  Connection& connection = impl->connection;
  Transaction transaction(connection);
  if (auto begun = transaction.begin(); !begun) return tl::unexpected(begun.error());
  if (auto added = addCase(connection, key); !added) return tl::unexpected(added.error());
  auto remove = connection.prepare(
      existing == Existing::Replace ? "DELETE FROM results WHERE identity = ?1 AND repeat = ?2"
                                    : "DELETE FROM results WHERE identity = ?1 AND repeat = ?2 AND status NOT IN ('ok', 'oom')");
  if (!remove) return tl::unexpected(remove.error());
  remove->bind(1, key.identity);
  remove->bind(2, static_cast<std::int64_t>(key.repeat));
  if (auto done = connection.step(*remove); !done) return tl::unexpected(done.error());
  auto insert = connection.prepare((std::string(kInsert) + " ON CONFLICT (identity, repeat) DO NOTHING").c_str());
  if (!insert) return tl::unexpected(insert.error());
  bindMeasurement(*insert, key, value);
  if (auto done = connection.step(*insert); !done) return tl::unexpected(done.error());
  const bool written = connection.changes() == 1;
  if (auto done = transaction.commit(); !done) return tl::unexpected(done.error());
  return written;
}

Result<void> Store::registerCase(const runtime::Case& key) { return addCase(impl->connection, key); }

Result<std::vector<Stored>> Store::results(const std::string& design, const std::string& backend) {
  const std::string sql = "SELECT " + columns(impl->connection.version) +
                          " FROM cases c JOIN results r USING (identity)"
                          " WHERE c.design = ?1 AND (?2 = '' OR c.backend = ?2) ORDER BY c.row, c.backend, c.identity, r.repeat";
  auto query = impl->connection.prepare(sql.c_str());
  if (!query) return tl::unexpected(query.error());
  query->bind(1, design);
  query->bind(2, backend);
  return readAll(impl->connection, *query);
}

Result<std::vector<Stored>> Store::results(std::span<const std::string> identities) {
  const std::string sql = "SELECT " + columns(impl->connection.version) +
                          " FROM results r JOIN cases c ON c.rowid ="
                          " (SELECT rowid FROM cases WHERE identity = r.identity ORDER BY registered, rowid LIMIT 1)"
                          " WHERE r.identity = ?1 ORDER BY r.repeat";
  std::vector<Stored> all;
  for (const std::string& identity : identities) {
    auto query = impl->connection.prepare(sql.c_str());
    if (!query) return tl::unexpected(query.error());
    query->bind(1, identity);
    auto rows = readAll(impl->connection, *query);
    if (!rows) return tl::unexpected(rows.error());
    all.insert(all.end(), std::make_move_iterator(rows->begin()), std::make_move_iterator(rows->end()));
  }
  return all;
}

Result<std::vector<std::string>> Store::designs() {
  auto query = impl->connection.prepare("SELECT DISTINCT design FROM cases ORDER BY design");
  if (!query) return tl::unexpected(query.error());
  std::vector<std::string> names;
  for (;;) {
    auto more = impl->connection.step(*query);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return names;
    names.push_back(query->text(0));
  }
}

}  // namespace tbem::store
