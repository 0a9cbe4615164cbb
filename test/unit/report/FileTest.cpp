// Files that are there whole or not at all.
#include "runtime/report/Svg.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace tbem::report {
namespace {

class File : public test::TemporaryFolder {
protected:
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::size_t count(const std::string& where) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(where), std::filesystem::directory_iterator()));
  }
};

TEST_F(File, IsWrittenInAFolderThatIsMadeAndReplaced) {
  const std::string path = folder + "/table1.out/plot.svg";
  ASSERT_TRUE(writeAtomically(path, "one").has_value());
  ASSERT_TRUE(writeAtomically(path, "two").has_value());
  EXPECT_EQ(contents(path), "two");
  EXPECT_EQ(count(folder + "/table1.out"), 1u);  // nothing temporary stays
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u & ~mask);
}

TEST_F(File, AReaderNeverSeesAPart) {
  const std::string path = folder + "/plot.svg", one(300000, 'a'), two(200000, 'b');
  ASSERT_TRUE(writeAtomically(path, one).has_value());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(writeAtomically(path, i % 2 == 0 ? two : one).has_value());
    done = true;
  });
  std::size_t reads = 0;
  for (; !done || reads == 0; ++reads) {
    const std::string seen = contents(path);
    EXPECT_TRUE(seen == one || seen == two) << seen.size();
  }
  writer.join();
}

TEST_F(File, SaysWhyItCannotBeWritten) {
  std::ofstream(folder + "/file") << "x";
  const auto done = writeAtomically(folder + "/file/plot.svg", "x");  // a file where a folder is needed
  ASSERT_FALSE(done.has_value());
  EXPECT_NE(done.error().find(folder + "/file"), std::string::npos) << done.error();
}

TEST_F(File, AFullDiskLeavesTheOldOne) {
  const std::string path = folder + "/plot.svg";
  ASSERT_TRUE(writeAtomically(path, "old").has_value());
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto done = writeAtomically(path, std::string(100000, 'n'));
    ::_exit(!done && done.error().find("make room") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(count(folder), 1u);
}

}  // namespace
}  // namespace tbem::report
