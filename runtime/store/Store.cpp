#include "runtime/store/Store.h"

#include "runtime/store/Connection.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tbem::store {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored little-endian");

constexpr int kPointsSince = 5;  ///< the version of the tables that have points

/// What stands for a column that older tables do not have.
const char* absent(const std::string&) { return "''"; }
template <class T>
const char* absent(const std::optional<T>&) {
  return "NULL";
}
const char* absent(double) { return "0"; }
const char* absent(const std::vector<double>&) { return "x''"; }

/// What `readStored` reads, of tables of this version.
std::string columns(int version) {
  std::string text = "c.identity, c.design, c.row, c.levels, c.backend, r.repeat, r.status";
  const runtime::Measurement any;
  forEachField(any, [&](runtime::MeasuredField field, const auto& member) {
    text += ", " + (field.since <= version ? std::string("r.") + field.column : absent(member));
  });
  return text;
}

/// What `bindMeasurement` fills.
std::string insertion() {
  std::string names = "identity, repeat, status", places = "?, ?, ?";
  const runtime::Measurement any;
  forEachField(any, [&](runtime::MeasuredField field, const auto&) {
    names += std::string(", ") + field.column;
    places += ", ?";
  });
  return "INSERT INTO results (" + names + ") VALUES (" + places + ")";
}

/// Binds one parameter after the other.
class Binder {
public:
  explicit Binder(Statement& statement) : to(statement) {}
  template <class T>
  void put(const T& value) {
    to.bind(++at, value);
  }
  void put(const std::vector<double>& samples) {
    to.bindBlob(++at, {reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(double)});
  }

private:
  Statement& to;
  int at = 0;
};

void bindMeasurement(Statement& statement, const runtime::Case& key, const runtime::Measurement& value) {
  Binder to(statement);
  to.put(key.identity);
  to.put(static_cast<std::int64_t>(key.repeat));
  to.put(runtime::name(value.status));
  forEachField(value, [&](runtime::MeasuredField, const auto& member) { to.put(member); });
}

/// Takes one column after the other.
class Columns {
public:
  explicit Columns(const Statement& statement) : from(statement) {}
  std::string text() { return from.text(at++); }
  std::uint32_t number() { return static_cast<std::uint32_t>(from.integer(at++)); }
  void take(std::string& to) { to = text(); }
  void take(double& to) { to = from.real(at++); }
  void take(std::optional<double>& to) { to = from.optionalReal(at++); }
  void take(std::optional<std::uint64_t>& to) { to = from.optionalSize(at++); }
  void take(std::vector<double>& to) {
    const std::string bytes = text();
    to.resize(bytes.size() / sizeof(double));
    if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size() * sizeof(double));
  }

private:
  const Statement& from;
  int at = 0;
};

Stored readStored(const Statement& statement) {
  Columns from(statement);
  Stored row;
  row.key.identity = from.text();
  row.key.design = from.text();
  row.key.row = from.number();
  row.key.levels = from.text();
  row.key.backend = from.text();
  row.key.repeat = from.number();
  row.value.status = runtime::statusOf(from.text()).value_or(runtime::Status::Failed);
  forEachField(row.value, [&](runtime::MeasuredField, auto& member) { from.take(member); });
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
  auto insert = connection.prepare((insertion() + " ON CONFLICT (identity, repeat) DO NOTHING").c_str());
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

Result<void> Store::commitPoints(const std::string& identity, std::span<const StoredPoint> points) {
  Connection& connection = impl->connection;
  Transaction transaction(connection);
  if (auto begun = transaction.begin(); !begun) return begun;
  for (const StoredPoint& point : points) {
    auto insert = connection.prepare("INSERT OR REPLACE INTO points (identity, example, text, input) VALUES (?1, ?2, ?3, ?4)");
    if (!insert) return tl::unexpected(insert.error());
    insert->bind(1, identity);
    insert->bind(2, point.example);
    insert->bind(3, point.text);
    insert->bindBlob(4, {reinterpret_cast<const char*>(point.input.data()), point.input.size()});
    if (auto done = connection.step(*insert); !done) return tl::unexpected(done.error());
  }
  return transaction.commit();
}

Result<std::vector<StoredPoint>> Store::points(const std::string& identity, Inputs inputs) {
  std::vector<StoredPoint> all;
  if (impl->connection.version < kPointsSince) return all;
  auto query = impl->connection.prepare(inputs == Inputs::Read
                                            ? "SELECT example, text, input FROM points WHERE identity = ?1 ORDER BY example"
                                            : "SELECT example, text, x'' FROM points WHERE identity = ?1 ORDER BY example");
  if (!query) return tl::unexpected(query.error());
  query->bind(1, identity);
  for (;;) {
    auto more = impl->connection.step(*query);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return all;
    StoredPoint& point = all.emplace_back();
    point.example = query->integer(0);
    point.text = query->text(1);
    const std::string bytes = query->text(2);
    point.input.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(point.input.data(), bytes.data(), bytes.size());
  }
}

}  // namespace tbem::store
