// The load of a machine, from files that the test writes, and of this one while the test keeps it busy.
#include "runtime/measure/LoadMeter.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tbem::measure {
namespace {

class Load : public test::TemporaryFolder {
protected:
  void SetUp() override {
    test::TemporaryFolder::SetUp();
    std::filesystem::create_directory(folder + "/pressure");
  }

  void put(const std::string& file, const std::string& text) { std::ofstream(folder + "/" + file) << text; }
};

TEST_F(Load, SharesAreOfTheTimeOfAllProcessors) {
  put("stat", "cpu  100 10 50 800 20 3 7 10 0 0\ncpu0 1 1 1 1\n");
  put("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 total=9\n");
  put("loadavg", "2.50 1.00 0.50 3/100 4711\n");
  LoadMeter meter(folder);
  meter.start();
  // 400 ticks later: 180 busy, 180 idle, 40 stolen.
  put("stat", "cpu  200 20 110 970 30 6 14 50 0 0\n");
  put("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n");
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const runtime::MachineLoad load = meter.read(80 / ticks, 2.0);
  EXPECT_DOUBLE_EQ(*load.others, 0.25);  // 100 of 400
  EXPECT_DOUBLE_EQ(*load.stolen, 0.1);
  EXPECT_DOUBLE_EQ(*load.waited, 0.25);
  EXPECT_DOUBLE_EQ(*load.average, 2.5);
  EXPECT_EQ(*meter.read(200 / ticks, 2.0).others, 0);  // ticks are coarser than the process's own time
}

TEST_F(Load, WhatTheSystemDoesNotSayIsEmpty) {
  LoadMeter nothing(folder);
  nothing.start();
  const runtime::MachineLoad load = nothing.read(1, 1);
  EXPECT_FALSE(load.others || load.stolen || load.waited || load.average);
  put("stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");  // as some sandboxes say
  LoadMeter zeros(folder);
  zeros.start();
  EXPECT_FALSE(zeros.read(1, 1).others);
  EXPECT_FALSE(parseProcessorTicks("cpu0 1 2 3 4 5 6 7 8"));
  EXPECT_FALSE(parseProcessorTicks("cpu 1 2 3 4"));
}

TEST(LoadOfThisMachine, SeesAnotherProcess) {
  LoadMeter meter;
  meter.start();
  const pid_t busy = ::fork();
  ASSERT_GE(busy, 0);
  if (busy == 0)
    for (;;) {
    }
  ::usleep(400000);
  const runtime::MachineLoad load = meter.read();
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  if (!load.others) GTEST_SKIP() << "/proc/stat says nothing here";
  EXPECT_GT(*load.others, 0.3 / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace
}  // namespace tbem::measure
