// Files: what is read and what is refused; what stays of a file that is written anew.
#include "runtime/files/Write.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

namespace tbem::files {
namespace {

namespace fs = std::filesystem;

class Files : public test::TemporaryFolder {
protected:
  std::string make(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    const std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static struct stat statusOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  /// Whether `work` is true in a process whose files may have so many bytes at most.
  static bool holdsWithin(rlim_t bytes, const std::function<bool()>& work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      ::_exit(work() ? 0 : 1);
    }
    int status = 1;
    return ::waitpid(pid, &status, 0) == pid && status == 0;
  }
};

TEST_F(Files, ARegularFileIsReadUpToALimit) {
  const std::string text(10000, 'x'), path = make("text", text);
  EXPECT_EQ(readFile(path, 10000).value(), text);
  const auto more = readFile(path, 9999);
  ASSERT_FALSE(more.has_value());
  EXPECT_NE(more.error().message.find("more than 9999 bytes"), std::string::npos) << more.error().message;
  EXPECT_EQ(readFile(make("empty", ""), 1).value(), "");
  EXPECT_FALSE(readFile("/proc/self/status", 1 << 20).value().empty());  // whose size is 0
}

TEST_F(Files, WhatIsNoRegularFileIsRefusedAndNotWaitedFor) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder, std::string("/dev/zero"), std::string("/dev/null")}) {
    const auto read = readFile(path, 1 << 20);
    ASSERT_FALSE(read.has_value()) << path;
    EXPECT_EQ(read.error().code, 0) << path;
    EXPECT_EQ(read.error().message.find("cannot read " + path + ": it is a "), 0U) << read.error().message;
    EXPECT_FALSE(readText(path, 1 << 20).has_value());
  }
  const auto absent = readFile(folder + "/absent", 1);
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ENOENT);
}

TEST_F(Files, AReadThatFailsIsNoEnd) {
  const auto memory = readFile("/proc/self/mem", 1 << 20);  // nothing lies at address 0
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().code, EIO);
}

TEST_F(Files, WhatIsInheritedMayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "through a pipe", 14), 14);
  ::close(ends[1]);
  EXPECT_EQ(readText("/dev/fd/" + std::to_string(ends[0]), 100).value(), "through a pipe");
  ::close(ends[0]);
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const auto endless = readText("/dev/fd/" + std::to_string(zeros), 1 << 20);
  ::close(zeros);
  ASSERT_FALSE(endless.has_value());
  EXPECT_NE(endless.error().message.find("more than 1 MiB"), std::string::npos) << endless.error().message;
}

TEST_F(Files, AFileKeepsItsModeAndASymbolicLink) {
  const std::string path = make("program", "old", 0640), link = folder + "/link", far = folder + "/far";
  fs::create_symlink("program", link);
  fs::create_symlink(link, far);
  ASSERT_TRUE(writeFile(far, "new").has_value());
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(statusOf(path).st_mode & 07777U, 0640U);
  EXPECT_TRUE(S_ISLNK(statusOf(link).st_mode) && S_ISLNK(statusOf(far).st_mode));
  EXPECT_EQ(count(), 3U);
  fs::create_symlink("later", folder + "/dangling");
  ASSERT_TRUE(writeFile(folder + "/dangling", "made").has_value());
  EXPECT_EQ(contents(folder + "/later"), "made");
}

TEST_F(Files, HardLinksShareWhatIsWritten) {
  const std::string path = make("program", "a longer old text", 0600), other = folder + "/other";
  fs::create_hard_link(path, other);
  const ino_t before = statusOf(path).st_ino;
  for (const std::string& text : {std::string("short"), std::string(100000, 'n')}) {
    ASSERT_TRUE(writeFile(path, text).has_value());
    EXPECT_EQ(contents(other), text);
  }
  EXPECT_EQ(statusOf(path).st_ino, before);
  EXPECT_EQ(statusOf(other).st_nlink, 2U);
  EXPECT_EQ(count(), 2U);
}

TEST_F(Files, AnotherOwnersFileKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes files of others";
  const std::string path = make("program", "old", 0664);
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  ASSERT_TRUE(writeFile(path, "new").has_value());
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(statusOf(path).st_uid, 65534U);
  EXPECT_EQ(statusOf(path).st_gid, 65534U);
  EXPECT_EQ(statusOf(path).st_mode & 07777U, 0664U);
}

TEST_F(Files, AFullDiskLeavesTheFormerText) {
  const std::string path = make("program", "old"), linked = make("linked", "old too");
  fs::create_hard_link(linked, folder + "/other");
  for (const std::string& one : {path, linked}) {
    EXPECT_TRUE(holdsWithin(5000, [&] {
      const auto written = writeFile(one, std::string(100000, 'n'));
      return !written && written.error().code == EFBIG && written.error().message.find("make room") != std::string::npos;
    }));
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(contents(linked), "old too");
  EXPECT_EQ(count(), 3U);  // nothing temporary stays
}

TEST_F(Files, AFileThatMayNotBeWrittenStays) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const std::string path = make("program", "old", 0444);
  const auto written = writeFile(path, "new");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, EACCES);
  EXPECT_EQ(contents(path), "old");
}

TEST_F(Files, WhatIsNoRegularFileIsNotReplaced) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(writeFile(pipe, "text").has_value());
  EXPECT_TRUE(S_ISFIFO(statusOf(pipe).st_mode));
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, AFolderIsThereWhole) {
  const std::string path = folder + "/new";
  const std::vector<NewFile> files = {{"a.txt", "first"}, {"parts/deep/b.sh", "#!/bin/sh\n", true}, {"empty", ""}};
  const mode_t mask = ::umask(027);
  const auto written = writeFolder(path, files);
  ::umask(mask);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_EQ(contents(path + "/a.txt"), "first");
  EXPECT_EQ(contents(path + "/parts/deep/b.sh"), "#!/bin/sh\n");
  EXPECT_EQ(statusOf(path + "/empty").st_size, 0);
  EXPECT_EQ(statusOf(path).st_mode & 07777U, 0750U);
  EXPECT_EQ(statusOf(path + "/a.txt").st_mode & 07777U, 0640U);
  EXPECT_EQ(statusOf(path + "/parts/deep/b.sh").st_mode & 07777U, 0750U);
  EXPECT_EQ(count(), 1U);  // nothing temporary stays
}

TEST_F(Files, WhatIsThereIsNoPlaceForAFolder) {
  const std::vector<NewFile> files = {{"a.txt", "new"}};
  fs::create_directory(folder + "/empty");
  fs::create_symlink("nowhere", folder + "/link");
  make("file", "old");
  for (const char* name : {"empty", "link", "file"}) {
    const auto written = writeFolder(folder + "/" + name, files);
    ASSERT_FALSE(written.has_value()) << name;
    EXPECT_EQ(written.error().code, EEXIST);
  }
  EXPECT_TRUE(fs::is_empty(folder + "/empty"));
  EXPECT_TRUE(fs::is_symlink(folder + "/link"));
  EXPECT_EQ(contents(folder + "/file"), "old");
  EXPECT_EQ(count(), 3U);
}

TEST_F(Files, AFullDiskLeavesNoFolder) {
  EXPECT_TRUE(holdsWithin(5000, [&] {
    const std::vector<NewFile> files = {{"small", "text"}, {"parts/large", std::string(100000, 'n')}};
    const auto written = writeFolder(folder + "/new", files);
    return !written && written.error().code == EFBIG &&
           written.error().message.find(folder + "/new/parts/large: ") != std::string::npos;
  }));
  EXPECT_EQ(count(), 0U);
  const std::vector<NewFile> file = {{"a", "b"}};
  const auto written = writeFolder(folder + "/nowhere/new", file);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ENOENT);
}

}  // namespace
}  // namespace tbem::files
