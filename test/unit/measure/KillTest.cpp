// A campaign that is killed at twenty moments and resumed each time: no row lost, none doubled, none run again.
#include "Workers.h"

#include "runtime/measure/Child.h"
#include "runtime/store/Store.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

namespace tbem::measure {
namespace {

std::vector<std::string> linesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

pid_t start(const std::string& folder) {
  auto argv = as("campaign", {folder});
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl(argv[0].c_str(), argv[0].c_str(), argv[1].c_str(), argv[2].c_str(), argv[3].c_str(), nullptr);
    ::_exit(127);
  }
  return pid;
}

TEST(Kill, TwentyTimesLosesAndDoublesNothing) {
  std::string folder = (std::filesystem::temp_directory_path() / "tbem-kill-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::mt19937 random(20260101);
  std::set<std::string> kept;
  std::size_t killed = 0;
  for (int round = 0; round < 20; ++round) {
    // A moment counted in rows, and some way into the next one: so every round makes progress on any machine.
    const std::size_t target = linesOf(folder + "/ran").size() + 1 + random() % 9;
    const pid_t pid = start(folder);
    ASSERT_GT(pid, 0);
    int status = 0;
    while (linesOf(folder + "/ran").size() < target && ::waitpid(pid, &status, WNOHANG) == 0) ::usleep(200);
    ::usleep(random() % 3000);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    auto store = store::Store::open(folder + "/store.tbemdb");
    ASSERT_TRUE(store.has_value()) << store.error().message;
    std::set<std::string> now;
    const auto stored = store->results("design");
    ASSERT_TRUE(stored.has_value()) << stored.error().message;
    for (const store::Stored& one : *stored) {
      EXPECT_TRUE(now.insert(one.key.identity + " " + std::to_string(one.key.repeat)).second) << "doubled";
      EXPECT_EQ(one.value.memoryPeak, one.key.row * 1000 + one.key.repeat);
    }
    for (const std::string& line : linesOf(folder + "/kept")) EXPECT_TRUE(now.contains(line)) << "lost " << line;
    for (const std::string& line : kept) EXPECT_TRUE(now.contains(line)) << "lost " << line;
    EXPECT_GE(now.size(), kept.size());
    kept = now;
  }
  EXPECT_EQ(killed, 20u);
  EXPECT_LT(kept.size(), 240u);

  Command command;
  command.argv = as("campaign", {folder});
  command.timeLimit = 120;
  const auto last = spawn(command);
  ASSERT_TRUE(last.has_value()) << last.error();
  EXPECT_EQ(last->exitCode, 0) << last->errorTail;
  EXPECT_EQ(store::Store::open(folder + "/store.tbemdb")->results("design")->size(), 240u);
  // A case ran again only where a kill fell between its start and its commit.
  std::map<std::string, int> runs;
  for (const std::string& line : linesOf(folder + "/ran")) ++runs[line];
  int again = 0;
  for (const auto& [line, count] : runs) again += count - 1;
  EXPECT_EQ(runs.size(), 240u);
  EXPECT_LE(again, 20);
  std::set<std::string> words;
  for (const std::string& line : linesOf(folder + "/kept")) EXPECT_TRUE(words.insert(line).second) << "committed twice: " << line;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tbem::measure
