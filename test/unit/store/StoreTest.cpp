// What the store keeps and gives back.
#include "Support.h"

#include "runtime/store/Connection.h"
#include "test/unit/MeasuredEverywhere.h"

#include <array>
#include <vector>

namespace tbem::store {
namespace {

using runtime::Status;

TEST_F(StoreTest, KeepsEveryFieldOverReopening) {
  const runtime::Measurement put = fullMeasurement();
  ASSERT_TRUE(opened().commit(caseOf("aa", 2), put).value());
  auto got = opened(Mode::ReadOnly).results("table1", "cpu").value();
  ASSERT_EQ(got.size(), 1u);
  const runtime::Case& key = got[0].key;
  EXPECT_EQ(key.identity, "aa");
  EXPECT_EQ(key.design, "table1");
  EXPECT_EQ(key.row, 3u);
  EXPECT_EQ(key.levels, R"({"batch":64,"depth":16})");
  EXPECT_EQ(key.backend, "cpu");
  EXPECT_EQ(key.repeat, 2u);
  const runtime::Measurement& value = got[0].value;
  EXPECT_EQ(value.status, put.status);
  EXPECT_EQ(value.reason, "");
  EXPECT_EQ(value.memoryPeak, put.memoryPeak);
  EXPECT_EQ(value.memoryBaseline, put.memoryBaseline);
  EXPECT_EQ(value.memoryReason, put.memoryReason);
  EXPECT_EQ(value.arenaPeak, put.arenaPeak);
  EXPECT_EQ(value.arenaPlanned, put.arenaPlanned);
  EXPECT_EQ(value.latencyMedian, put.latencyMedian);
  EXPECT_EQ(value.latencyP05, put.latencyP05);
  EXPECT_EQ(value.latencyP95, put.latencyP95);
  EXPECT_EQ(value.samples, put.samples);  // bit for bit
  EXPECT_EQ(value.energy, std::nullopt);
  EXPECT_EQ(value.energyReason, put.energyReason);
  EXPECT_EQ(value.lossNotFinite, put.lossNotFinite);
  EXPECT_EQ(value.load.others, 0.25);
  EXPECT_EQ(value.load.stolen, 0.125);
  EXPECT_EQ(value.load.waited, std::nullopt);
  EXPECT_EQ(value.load.average, 1.5);
  EXPECT_EQ(value.staticMemory, put.staticMemory);
  EXPECT_EQ(value.live, put.live);
  EXPECT_EQ(value.arena, put.arena);
  EXPECT_EQ(value.machine, put.machine);
  EXPECT_EQ(value.versions, put.versions);
  EXPECT_EQ(value.started, put.started);
  EXPECT_EQ(value.finished, put.finished);
  EXPECT_EQ(value.timeLimit, put.timeLimit);
}

TEST_F(StoreTest, KeepsEachFieldOfTheListApart) {
  const runtime::Measurement put = test::measuredEverywhere();
  ASSERT_TRUE(opened().commit(caseOf("aa"), put).value());
  const auto rows = opened(Mode::ReadOnly).results("table1", "cpu").value();
  ASSERT_EQ(rows.size(), 1u);
  test::expectSameEverywhere(rows[0].value, put);
}

/// A store as the first version wrote it, with one row.
constexpr const char* kFirstStore =
    "CREATE TABLE cases (identity TEXT NOT NULL, design TEXT NOT NULL, row INTEGER NOT NULL, levels TEXT NOT NULL,"
    "  backend TEXT NOT NULL, registered REAL NOT NULL, PRIMARY KEY (identity, design, row)) STRICT;"
    "CREATE INDEX cases_by_design ON cases (design, backend, row);"
    "CREATE TABLE results (identity TEXT NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
    "  memory_peak INTEGER, memory_baseline INTEGER, memory_reason TEXT NOT NULL, arena_peak INTEGER, arena_planned INTEGER,"
    "  latency_median REAL, latency_p05 REAL, latency_p95 REAL, samples BLOB NOT NULL, energy REAL, energy_reason TEXT NOT NULL,"
    "  static_memory INTEGER, live INTEGER, arena INTEGER, machine TEXT NOT NULL, versions TEXT NOT NULL,"
    "  started REAL NOT NULL, finished REAL NOT NULL, time_limit REAL NOT NULL, PRIMARY KEY (identity, repeat),"
    "  CHECK (status IN ('ok', 'oom', 'failed', 'timeout', 'skipped'))) STRICT;"
    "INSERT INTO cases VALUES ('aa', 'table1', 0, '{}', 'cpu', 1.0);"
    "INSERT INTO results VALUES ('aa', 0, 'ok', '', 4096, 1024, '', NULL, NULL, 0.5, 0.4, 0.6, x'', NULL, '', 1, 2, 3, 'm', 'v',"
    "  1.0, 2.0, 0.0);"
    "PRAGMA application_id = 1413629261; PRAGMA user_version = 1";

TEST_F(StoreTest, OlderStoresAreReadAsTheyAreAndBroughtUpToDateForWriting) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, kFirstStore, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  const std::string before = contents(file);
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    const auto rows = opened(mode).results("table1").value();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].value.memoryPeak, 4096u);
    EXPECT_EQ(rows[0].value.latencyMedian, 0.5);
    EXPECT_EQ(rows[0].value.lossNotFinite, "");
    EXPECT_EQ(rows[0].value.load.others, std::nullopt);
    if (mode == Mode::ReadOnly) {
      EXPECT_EQ(contents(file), before);
    }
  }
  ASSERT_TRUE(opened().commit(caseOf("bb"), fullMeasurement()).value());
  const auto rows = opened(Mode::ReadOnly).results("table1").value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].value.lossNotFinite, "nan");
}

TEST_F(StoreTest, MissingNumbersStayMissing) {
  Store store = opened();
  ASSERT_TRUE(store.commit(caseOf("aa"), withStatus(Status::OutOfMemory, "no room")).value());
  const auto got = store.results("table1").value();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].value.memoryPeak, std::nullopt);
  EXPECT_EQ(got[0].value.latencyMedian, std::nullopt);
  EXPECT_TRUE(got[0].value.samples.empty());
  EXPECT_EQ(got[0].value.reason, "no room");
}

TEST_F(StoreTest, FinishedListsRepeatsInOrder) {
  Store store = opened();
  for (const std::uint32_t repeat : {4u, 0u, 2u}) ASSERT_TRUE(store.commit(caseOf("aa", repeat), withStatus(Status::Ok)).value());
  ASSERT_TRUE(store.commit(caseOf("bb", 1), withStatus(Status::Timeout, "slow", 30)).value());
  std::vector<std::uint32_t> repeats;
  const auto found = store.finished("aa").value();
  for (const Finished& one : found) repeats.push_back(one.repeat);
  EXPECT_EQ(repeats, (std::vector<std::uint32_t>{0, 2, 4}));
  EXPECT_FALSE(store.finished("aa", 1).value().has_value());
  const auto timeout = store.finished("bb", 1).value();
  ASSERT_TRUE(timeout.has_value());
  EXPECT_EQ(timeout->status, Status::Timeout);
  EXPECT_EQ(timeout->timeLimit, 30);
  EXPECT_TRUE(store.finished("cc").value().empty());
}

/// Which of two measurements of the same (identity, repeat) stays.
struct Twice {
  Status first, second;
  Existing existing;
  bool replaced;
};
class StoreTwice : public StoreTest, public testing::WithParamInterface<Twice> {};

TEST_P(StoreTwice, HasOneRowAfterTwoCommits) {
  const Twice& c = GetParam();
  Store store = opened();
  ASSERT_TRUE(store.commit(caseOf("aa"), withStatus(c.first, "first")).value());
  EXPECT_EQ(store.commit(caseOf("aa"), withStatus(c.second, "second"), c.existing).value(), c.replaced);
  const auto got = store.results("table1").value();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].value.reason, c.replaced ? "second" : "first");
  EXPECT_EQ(got[0].value.status, c.replaced ? c.second : c.first);
}

INSTANTIATE_TEST_SUITE_P(Statuses, StoreTwice,
                         testing::Values(Twice{Status::Ok, Status::Ok, Existing::Keep, false},
                                         Twice{Status::OutOfMemory, Status::Ok, Existing::Keep, false},
                                         Twice{Status::Failed, Status::Ok, Existing::Keep, true},
                                         Twice{Status::Timeout, Status::Failed, Existing::Keep, true},
                                         Twice{Status::Skipped, Status::Ok, Existing::Keep, true},
                                         Twice{Status::Ok, Status::Failed, Existing::Replace, true}));

TEST_F(StoreTest, OneExperimentMayBeARowOfTwoDesigns) {
  Store store = opened();
  ASSERT_TRUE(store.commit(caseOf("aa", 0, "table1", 3), withStatus(Status::Ok)).value());
  ASSERT_TRUE(store.registerCase(caseOf("aa", 0, "table2", 7)).has_value());
  const auto second = store.results("table2").value();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].key.row, 7u);
  EXPECT_EQ(store.results("table1").value().size(), 1u);
  EXPECT_EQ(store.designs().value(), (std::vector<std::string>{"table1", "table2"}));
  const std::array<std::string, 2> identities = {"aa", "unknown"};
  const auto byIdentity = store.results(identities).value();
  ASSERT_EQ(byIdentity.size(), 1u);  // not once for each design
  EXPECT_EQ(byIdentity[0].key.design, "table1");
}

TEST_F(StoreTest, ResultsAreOfOneDesignAndBackendInOrder) {
  Store store = opened();
  runtime::Case gpu = caseOf("gg", 0, "table1", 1);
  gpu.backend = "cuda";
  ASSERT_TRUE(store.commit(gpu, withStatus(Status::Ok)).value());
  for (const std::uint32_t row : {5u, 1u, 3u})
    for (const std::uint32_t repeat : {1u, 0u})
      ASSERT_TRUE(store.commit(caseOf("id" + std::to_string(row), repeat, "table1", row), withStatus(Status::Ok)).value());
  ASSERT_TRUE(store.commit(caseOf("other", 0, "table2", 0), withStatus(Status::Ok)).value());
  const auto rows = store.results("table1", "cpu").value();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (const Stored& one : rows) order.emplace_back(one.key.row, one.key.repeat);
  EXPECT_EQ(order, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {1, 1}, {3, 0}, {3, 1}, {5, 0}, {5, 1}}));
  EXPECT_EQ(store.results("table1").value().size(), 7u);
  EXPECT_TRUE(store.results("table1", "fake").value().empty());
}

TEST_F(StoreTest, NamesAreDataNotSql) {
  Store store = opened();
  const std::string nasty = "a'; DROP TABLE results; --";
  ASSERT_TRUE(store.commit(caseOf(nasty, 0, nasty), withStatus(Status::Ok, nasty)).value());
  const auto got = store.results(nasty).value();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].value.reason, nasty);
}

TEST_F(StoreTest, CommitsAreFlushedToAWriteAheadLog) {
  auto connection = Connection::open(file, Mode::ReadWrite, 1);
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->number("PRAGMA synchronous").value(), 2);  // FULL
  auto mode = connection->prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode.has_value() && connection->step(*mode).value());
  EXPECT_EQ(mode->text(0), "wal");  // the folder for temporary files is on a local disk
}

TEST(Settled, SaysWhatIsRunAgain) {
  EXPECT_TRUE(runtime::settled(Status::Ok, 0, 100));
  EXPECT_TRUE(runtime::settled(Status::OutOfMemory, 0, 0));
  EXPECT_FALSE(runtime::settled(Status::Failed, 0, 0));
  EXPECT_FALSE(runtime::settled(Status::Skipped, 0, 0));
  EXPECT_TRUE(runtime::settled(Status::Timeout, 30, 30));
  EXPECT_TRUE(runtime::settled(Status::Timeout, 30, 10));
  EXPECT_FALSE(runtime::settled(Status::Timeout, 30, 31));
  EXPECT_FALSE(runtime::settled(Status::Timeout, 30, 0));  // no limit now
}

}  // namespace
}  // namespace tbem::store
