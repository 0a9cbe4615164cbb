// Files that are no stores, damaged, newer, locked or without room: refused with words, and never overwritten.
#include "Support.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace tbem::store {
namespace {

using runtime::Status;

void expectRefused(const std::string& file, Error::Kind kind, const std::string& words, Mode mode = Mode::ReadWrite) {
  auto store = Store::open(file, mode, 0.05);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().kind, kind) << store.error().message;
  EXPECT_NE(store.error().message.find(file), std::string::npos) << store.error().message;
  EXPECT_NE(store.error().message.find(words), std::string::npos) << store.error().message;
}

/// Runs SQL on the file as another program would.
void foreign(const std::string& file, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_close(db);
}

TEST_F(StoreTest, RefusesTextAndLeavesIt) {
  const std::string text = "these are my notes, not a database\n";
  std::ofstream(file) << text;
  expectRefused(file, Error::Kind::NotOurs, "not a store");
  EXPECT_EQ(contents(file), text);
  EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
}

TEST_F(StoreTest, RefusesAShortFile) {
  std::ofstream(file) << "SQLite";
  expectRefused(file, Error::Kind::NotOurs, "not a store");
  EXPECT_EQ(contents(file), "SQLite");
}

TEST_F(StoreTest, RefusesAnotherProgramsDatabase) {
  foreign(file, "CREATE TABLE photos (name TEXT)");
  const std::string before = contents(file);
  expectRefused(file, Error::Kind::NotOurs, "another program");
  EXPECT_EQ(contents(file), before);
}

TEST_F(StoreTest, RefusesANewerSchema) {
  { Store store = opened(); }
  foreign(file, "PRAGMA user_version = 999");
  const std::string before = contents(file);
  expectRefused(file, Error::Kind::NewerSchema, "version 999");
  EXPECT_EQ(contents(file), before);
}

TEST_F(StoreTest, RefusesASchemaThatNeverWas) {
  { Store store = opened(); }
  for (const char* version : {"-503316479", "0"}) {
    foreign(file, fmt::format("PRAGMA user_version = {}", version));
    const std::string before = contents(file);
    expectRefused(file, Error::Kind::Corrupt, version);
    EXPECT_EQ(contents(file), before);
  }
}

TEST_F(StoreTest, TakesAnEmptyFileAsAnUnwrittenOne) {
  std::ofstream{file};
  ASSERT_EQ(std::filesystem::file_size(file), 0u);
  expectRefused(file, Error::Kind::Empty, "holds nothing yet", Mode::ReadOnly);
  EXPECT_TRUE(opened().commit(caseOf("aa"), withStatus(Status::Ok)).value());
}

TEST_F(StoreTest, RefusesADamagedFileAndLeavesIt) {
  {
    Store store = opened();
    for (std::uint32_t i = 0; i < 200; ++i)
      ASSERT_TRUE(store.commit(caseOf("id" + std::to_string(i)), fullMeasurement()).value());
  }
  std::string bytes = contents(file);
  ASSERT_GT(bytes.size(), 40000u);
  for (std::size_t at = 8192; at < 32768; ++at) bytes[at] = static_cast<char>(at * 37);
  std::ofstream(file, std::ios::binary) << bytes;
  expectRefused(file, Error::Kind::Corrupt, "damaged");
  EXPECT_EQ(contents(file), bytes);
}

TEST_F(StoreTest, RefusesATruncatedFile) {
  {
    Store store = opened();
    for (std::uint32_t i = 0; i < 200; ++i)
      ASSERT_TRUE(store.commit(caseOf("id" + std::to_string(i)), fullMeasurement()).value());
  }
  std::filesystem::resize_file(file, 20000);
  const std::string before = contents(file);
  expectRefused(file, Error::Kind::Corrupt, "damaged");
  EXPECT_EQ(contents(file), before);
}

TEST_F(StoreTest, SaysThatAFolderIsMissing) {
  file = folder + "/no/such/folder.tbemdb";
  expectRefused(file, Error::Kind::CannotOpen, "folder");
}

TEST_F(StoreTest, ReadingDoesNotMakeAFile) {
  expectRefused(file, Error::Kind::CannotOpen, "cannot be opened", Mode::ReadOnly);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(StoreTest, ReadOnlyRefusesToWrite) {
  { Store store = opened(); }
  auto done = opened(Mode::ReadOnly).commit(caseOf("aa"), withStatus(Status::Ok));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, Error::Kind::ReadOnly) << done.error().message;
}

TEST_F(StoreTest, SaysThatItIsLockedAfterWaiting) {
  auto store = Store::open(file, Mode::ReadWrite, 0.2);
  ASSERT_TRUE(store.has_value());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto done = store->commit(caseOf("aa"), withStatus(Status::Ok));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, Error::Kind::Locked) << done.error().message;
  EXPECT_NE(done.error().message.find("another process"), std::string::npos);
  EXPECT_TRUE(store->finished("aa").has_value());  // reading goes on
  sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_TRUE(store->commit(caseOf("aa"), withStatus(Status::Ok)).value());
}

/// In a child, whose limit of file size stands for a full disk: commits until one fails. Exit 0: it failed as it should, and
/// what was committed before can still be read there. The number of commits that came through goes to `to`.
int fillUp(const std::string& file, const std::string& to) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto store = Store::open(file);
  if (!store) return 2;
  const rlimit limit{300000, 300000};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    auto done = store->commit(caseOf("id" + std::to_string(i)), fullMeasurement());
    if (done) continue;
    std::ofstream(to) << i << "\n" << done.error().message;
    if (done.error().kind != Error::Kind::DiskFull) return 4;
    const auto rows = store->results("table1");
    return rows && rows->size() == i ? 0 : 5;
  }
  return 6;
}

TEST_F(StoreTest, AFullDiskLosesNothingAndCanGoOnLater) {
  const std::string report = reportOfChild(fillUp);
  ASSERT_FALSE(report.empty());
  const std::size_t committed = std::stoul(report);
  EXPECT_GT(committed, 10u);
  EXPECT_NE(report.find("make room"), std::string::npos) << report;
  Store store = opened();  // there is room now
  EXPECT_EQ(store.results("table1").value().size(), committed);
  EXPECT_TRUE(store.commit(caseOf("after"), withStatus(Status::Ok)).value());
}

/// File systems of this process's own: as root, or as the root of a user namespace.
bool ownFileSystems() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const std::string users = "0 " + std::to_string(::getuid()) + " 1", groups = "0 " + std::to_string(::getgid()) + " 1";
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  return std::ofstream("/proc/self/uid_map") << users << std::flush && std::ofstream("/proc/self/gid_map")
                                                                           << groups << std::flush;
}

/// In a child with a file system of 512 KiB of its own. Exit 77: the kernel does not permit one.
int fillSmallDisk(const std::string& folder, const std::string& to) {
  if (!ownFileSystems()) return 77;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=512k") != 0) return 77;
  std::ofstream(folder + "/filler") << std::string(200000, 'x');
  auto store = Store::open(folder + "/small.tbemdb");
  if (!store) return 2;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    auto done = store->commit(caseOf("id" + std::to_string(i)), fullMeasurement());
    if (done) continue;
    std::ofstream(to) << done.error().message;
    const auto rows = store->results("table1");
    if (done.error().kind != Error::Kind::DiskFull || !rows || rows->size() != i || i < 5) return 4;
    std::filesystem::remove(folder + "/filler");
    return store->commit(caseOf("after"), fullMeasurement()) ? 0 : 5;
  }
  return 6;
}

TEST_F(StoreTest, AFullFileSystemIsSaidAndTheSameConnectionGoesOn) {
  const std::string disk = folder + "/disk", report = folder + "/report";
  std::filesystem::create_directory(disk);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) ::_exit(fillSmallDisk(disk, report));
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this kernel permits no mount here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << contents(report);
  EXPECT_NE(contents(report).find("make room"), std::string::npos) << contents(report);
}

}  // namespace
}  // namespace tbem::store
