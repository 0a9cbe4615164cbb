// Points that searches found: kept with their inputs, replaced, read from older stores as none, and lost by no full disk.
#include "Support.h"

#include <sqlite3.h>

#include <sys/resource.h>
#include <csignal>
#include <cstddef>
#include <vector>

namespace tbem::store {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

StoredPoint pointOf(std::int64_t example, const std::string& text) {
  return {example, text, bytes({0, 255, static_cast<int>(example), 0})};
}

void expectEqual(const StoredPoint& got, const StoredPoint& put) {
  EXPECT_EQ(got.example, put.example);
  EXPECT_EQ(got.text, put.text);
  EXPECT_EQ(got.input, put.input);
}

TEST_F(StoreTest, KeepsPointsByIdentityAndExampleOverReopening) {
  const std::vector<StoredPoint> second = {pointOf(7, "seven"), pointOf(2, R"({"a": "µ'; DROP TABLE points; --"})")};
  ASSERT_TRUE(opened().commitPoints("aa", std::vector{pointOf(1, ""), StoredPoint{3, "no input", {}}}));
  ASSERT_TRUE(opened().commitPoints("aa", second));
  ASSERT_TRUE(opened().commitPoints("bb", std::vector{pointOf(1, "another")}));
  Store store = opened(Mode::ReadOnly);
  const auto points = store.points("aa", Inputs::Read).value();
  ASSERT_EQ(points.size(), 4u);
  expectEqual(points[0], pointOf(1, ""));
  expectEqual(points[1], second[1]);
  expectEqual(points[2], {3, "no input", {}});
  expectEqual(points[3], second[0]);
  const auto texts = store.points("aa").value();
  ASSERT_EQ(texts.size(), 4u);
  expectEqual(texts[3], {7, "seven", {}});
  EXPECT_EQ(store.points("bb").value().size(), 1u);
  EXPECT_TRUE(store.points("cc").value().empty());
}

TEST_F(StoreTest, APointThatIsThereIsReplaced) {
  Store store = opened();
  ASSERT_TRUE(store.commitPoints("aa", std::vector{pointOf(1, "old"), pointOf(2, "old")}));
  ASSERT_TRUE(store.commitPoints("aa", std::vector{StoredPoint{1, "new", bytes({9})}}));
  const auto points = store.points("aa", Inputs::Read).value();
  ASSERT_EQ(points.size(), 2u);
  expectEqual(points[0], {1, "new", bytes({9})});
  expectEqual(points[1], pointOf(2, "old"));
}

/// A store as the version before points wrote it: the tables of the first one, with the columns that came since.
constexpr const char* kFourthStore =
    "CREATE TABLE cases (identity TEXT NOT NULL, design TEXT NOT NULL, row INTEGER NOT NULL, levels TEXT NOT NULL,"
    "  backend TEXT NOT NULL, registered REAL NOT NULL, PRIMARY KEY (identity, design, row)) STRICT;"
    "CREATE TABLE results (identity TEXT NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
    "  memory_peak INTEGER, memory_baseline INTEGER, memory_reason TEXT NOT NULL, arena_peak INTEGER, arena_planned INTEGER,"
    "  latency_median REAL, latency_p05 REAL, latency_p95 REAL, samples BLOB NOT NULL, energy REAL, energy_reason TEXT NOT NULL,"
    "  static_memory INTEGER, live INTEGER, arena INTEGER, machine TEXT NOT NULL, versions TEXT NOT NULL,"
    "  started REAL NOT NULL, finished REAL NOT NULL, time_limit REAL NOT NULL, loss_not_finite TEXT NOT NULL DEFAULT '',"
    "  others REAL, stolen REAL, waited REAL, load_average REAL, allocated_peak INTEGER, reserved_peak INTEGER,"
    "  device_peak INTEGER, PRIMARY KEY (identity, repeat),"
    "  CHECK (status IN ('ok', 'oom', 'failed', 'timeout', 'skipped'))) STRICT;"
    "INSERT INTO cases VALUES ('aa', 'table1', 0, '{}', 'cpu', 1.0);"
    "INSERT INTO results VALUES ('aa', 0, 'ok', '', 4096, 1024, '', NULL, NULL, 0.5, 0.4, 0.6, x'', NULL, '', 1, 2, 3, 'm', 'v',"
    "  1.0, 2.0, 0.0, '', 0.1, 0.2, NULL, 3.0, 64, 128, 256);"
    "PRAGMA application_id = 1413629261; PRAGMA user_version = 4";

TEST_F(StoreTest, AStoreFromBeforePointsHasNoneAndTakesThemWhenOpenedForWriting) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, kFourthStore, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  const std::string before = contents(file);
  EXPECT_TRUE(opened(Mode::ReadOnly).points("aa").value().empty());
  EXPECT_EQ(contents(file), before);
  ASSERT_TRUE(opened().commitPoints("aa", std::vector{pointOf(1, "one")}));
  Store store = opened(Mode::ReadOnly);
  EXPECT_EQ(store.points("aa").value().size(), 1u);
  const auto rows = store.results("table1").value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].value.memoryPeak, 4096u);
  EXPECT_EQ(rows[0].value.load.average, 3.0);
}

TEST_F(StoreTest, PointsOfAReadOnlyOrLockedStoreAreRefused) {
  Store store = std::move(*Store::open(file, Mode::ReadWrite, 0.1));
  const auto readOnly = opened(Mode::ReadOnly).commitPoints("aa", std::vector{pointOf(1, "one")});
  ASSERT_FALSE(readOnly);
  EXPECT_EQ(readOnly.error().kind, Error::Kind::ReadOnly) << readOnly.error().message;
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto locked = store.commitPoints("aa", std::vector{pointOf(1, "one")});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().kind, Error::Kind::Locked) << locked.error().message;
  sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_TRUE(store.commitPoints("aa", std::vector{pointOf(1, "one")}));
}

/// In a child, whose limit of file size stands for a full disk: commits batches of two points until one fails. Exit 0: it failed
/// as it should, and the whole batches before it, and no half of one, can still be read there. Their number goes to `to`.
int fillUp(const std::string& file, const std::string& to) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto store = Store::open(file);
  const rlimit limit{300000, 300000};
  if (!store || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  const std::vector<std::byte> input(3000, std::byte{1});
  for (std::int64_t batch = 0; batch < 1000; ++batch) {
    const std::vector<StoredPoint> points = {{2 * batch, "even", input}, {2 * batch + 1, "odd", input}};
    const auto done = store->commitPoints("aa", points);
    if (done) continue;
    std::ofstream(to) << batch << "\n" << done.error().message;
    if (done.error().kind != Error::Kind::DiskFull) return 4;
    const auto stored = store->points("aa", Inputs::Read);
    return stored && std::ssize(*stored) == 2 * batch ? 0 : 5;
  }
  return 6;
}

TEST_F(StoreTest, AFullDiskKeepsWholeBatchesOfPoints) {
  const std::string report = reportOfChild(fillUp);
  ASSERT_FALSE(report.empty());
  const std::size_t batches = std::stoul(report);
  EXPECT_GT(batches, 5u);
  EXPECT_EQ(opened().points("aa").value().size(), 2 * batches);
}

}  // namespace
}  // namespace tbem::store
