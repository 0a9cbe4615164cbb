// Several processes on one file, and a writer that is killed.
#include "Support.h"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <set>
#include <vector>

namespace tbem::store {
namespace {

using runtime::Status;

/// Commits `rows` rows with identities `name`0.. in its own process; exit 0 where all came through.
pid_t writer(const std::string& file, const std::string& name, std::uint32_t rows) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  auto store = Store::open(file);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    ::_exit(2);
  }
  for (std::uint32_t i = 0; i < rows; ++i) {
    auto done = store->commit(caseOf(name + std::to_string(i), 0, "table1", i), fullMeasurement());
    if (!done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      ::_exit(3);
    }
  }
  ::_exit(0);
}

void expectClean(pid_t pid) {
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(StoreTest, SixProcessesMakeAndFillOneFile) {
  constexpr std::uint32_t kProcesses = 6, kRows = 40;
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < kProcesses; ++i)
    children.push_back(writer(file, std::string(1, static_cast<char>('a' + i)), kRows));
  for (const pid_t child : children) expectClean(child);
  EXPECT_EQ(opened().results("table1").value().size(), kProcesses * kRows);
}

TEST_F(StoreTest, ProcessesThatMeasureTheSameLeaveItOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(writer(file, "same", 40));
  for (const pid_t child : children) expectClean(child);
  EXPECT_EQ(opened().results("table1").value().size(), 40u);
}

TEST_F(StoreTest, AReaderSeesWhatAWriterHasCommitted) {
  Store write = opened();
  Store read = opened(Mode::ReadOnly);
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(write.commit(caseOf("aa", i), withStatus(Status::Ok)).value());
    EXPECT_EQ(read.finished("aa").value().size(), i + 1);
  }
}

/// The child says "committed" through a pipe after each commit; whatever was said before the kill must be there.
TEST_F(StoreTest, AKilledWriterLosesNothingItCommitted) {
  std::size_t known = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      auto store = Store::open(file);
      for (std::uint32_t i = 0; store && i < 10000; ++i) {
        if (!store->commit(caseOf("r" + std::to_string(round) + "-" + std::to_string(i)), fullMeasurement())) ::_exit(3);
        if (::write(ends[1], "x", 1) != 1) ::_exit(4);
      }
      ::_exit(2);
    }
    ::close(ends[1]);
    char said = 0;
    std::size_t acknowledged = 0;
    while (acknowledged < static_cast<std::size_t>(5 + round * 3) && ::read(ends[0], &said, 1) == 1) ++acknowledged;
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(ends[0], &said, 1) == 1) ++acknowledged;
    ::close(ends[0]);
    const auto rows = opened().results("table1").value();
    EXPECT_GE(rows.size(), known + acknowledged);
    EXPECT_LE(rows.size(), known + acknowledged + 1);  // the kill may fall between the commit and the word
    std::set<std::string> different;
    for (const Stored& row : rows) {
      EXPECT_EQ(row.value.samples, fullMeasurement().samples);
      different.insert(row.key.identity);
    }
    EXPECT_EQ(different.size(), rows.size());
    known = rows.size();
  }
}

}  // namespace
}  // namespace tbem::store
