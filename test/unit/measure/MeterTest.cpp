// Meters, against memory that the test itself takes and counters that it writes.
#include "runtime/measure/Meters.h"
#include "runtime/measure/Nvml.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tbem::measure {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Memory, ReadsTheFieldsOfStatus) {
  const auto memory = parseStatus("Name:\tx VmRSS: 7 kB\nVmPeak:\t  999 kB\nVmHWM:\t    2004 kB\nVmRSS:\t     1000 kB\n");
  ASSERT_TRUE(memory.has_value()) << memory.error();
  EXPECT_EQ(memory->peak, 2004u * 1024);
  EXPECT_EQ(memory->resident, 1000u * 1024);
}

TEST(Memory, SaysWhichFieldIsMissing) {
  EXPECT_NE(parseStatus("VmRSS:\t 1 kB\n").error().find("VmHWM"), std::string::npos);
  EXPECT_NE(parseStatus("VmHWM:\t 1 kB\nVmRSS:\tnone\nVmX: 3 kB\n").error().find("VmRSS"), std::string::npos);
}

TEST(Memory, PeakRisesWithPagesAndFallsWithAReset) {
  constexpr std::uint64_t kSize = 64 * kMiB;
  const auto before = readMemory();
  ASSERT_TRUE(before.has_value()) << before.error();
  auto* bytes = static_cast<char*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(bytes, MAP_FAILED);
  for (std::uint64_t at = 0; at < kSize; at += 4096) bytes[at] = 1;
  const auto during = readMemory();
  EXPECT_NEAR(static_cast<double>(during->resident - before->resident), kSize, 2.0 * kMiB);
  ::munmap(bytes, kSize);
  const auto after = readMemory();
  EXPECT_LT(after->resident, during->resident - kSize / 2);
  EXPECT_NEAR(static_cast<double>(after->peak), static_cast<double>(during->resident), 1.0 * kMiB);  // it remembers
  if (auto reset = resetPeak(); !reset) GTEST_SKIP() << reset.error();
  EXPECT_LT(readMemory()->peak, during->resident - kSize / 2);
}

TEST(Clock, Advances) {
  const double before = monotonicSeconds();
  ::usleep(20000);
  const double gone = monotonicSeconds() - before;
  EXPECT_GE(gone, 0.02);
  EXPECT_LT(gone, 5);
  EXPECT_GT(unixSeconds(), 1.7e9);
}

/// A powercap tree of our own.
class Energy : public test::TemporaryFolder {
protected:
  void put(const std::string& zone, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(folder + "/" + zone);
    std::ofstream(folder + "/" + zone + "/" + file) << text << "\n";
  }
  void zone(const std::string& at, const std::string& name, std::uint64_t energy, std::uint64_t range) {
    put(at, "name", name);
    put(at, "energy_uj", std::to_string(energy));
    put(at, "max_energy_range_uj", std::to_string(range));
  }
};

TEST_F(Energy, AddsPackagesOnly) {
  zone("intel-rapl:0", "package-0", 1000000, 262143328850);
  zone("intel-rapl:1", "package-1", 5000000, 262143328850);
  zone("intel-rapl:0:0", "core", 7, 262143328850);
  zone("intel-rapl:2", "psys", 9, 262143328850);
  std::filesystem::create_directories(folder + "/intel-rapl");
  EnergyMeter meter(folder);
  ASSERT_TRUE(meter.available()) << meter.reason();
  meter.start();
  zone("intel-rapl:0", "package-0", 1500000, 262143328850);
  zone("intel-rapl:1", "package-1", 7000000, 262143328850);
  zone("intel-rapl:0:0", "core", 99999999, 262143328850);
  zone("intel-rapl:2", "psys", 99999999, 262143328850);
  meter.look();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2.5);
}

TEST_F(Energy, CountsOverAWrap) {
  zone("intel-rapl:0", "package-0", 9000000, 10000000);
  EnergyMeter meter(folder);
  meter.start();
  zone("intel-rapl:0", "package-0", 500000, 10000000);
  meter.look();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 1.5);
  zone("intel-rapl:0", "package-0", 100000, 10000000);
  meter.look();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 1.5 + 9.6);
  meter.start();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 0);
}

TEST_F(Energy, SaysWhyThereIsNone) {
  EnergyMeter nothing(folder + "/absent");
  EXPECT_FALSE(nothing.available());
  EXPECT_EQ(nothing.joules(), std::nullopt);
  EXPECT_NE(nothing.reason().find("no RAPL"), std::string::npos);
  // One package of two that cannot be read: half the energy would be a wrong number.
  zone("intel-rapl:0", "package-0", 1, 100);
  zone("intel-rapl:1", "package-1", 1, 100);
  std::filesystem::remove(folder + "/intel-rapl:1/energy_uj");
  EnergyMeter half(folder);
  EXPECT_FALSE(half.available());
  EXPECT_NE(half.reason().find("intel-rapl:1/energy_uj"), std::string::npos);
}

TEST_F(Energy, ACounterThatVanishesGivesNone) {
  zone("intel-rapl:0", "package-0", 1, 100);
  EnergyMeter meter(folder);
  meter.start();
  std::filesystem::remove_all(folder + "/intel-rapl:0");
  meter.look();
  EXPECT_EQ(meter.joules(), std::nullopt);
  EXPECT_NE(meter.reason().find("energy_uj"), std::string::npos);
}

TEST(Nvml, WhatHoldsACardBackHasTheNamesOfNvidiaSmi) {
  EXPECT_EQ(throttlesOf(0), "");
  EXPECT_EQ(throttlesOf(0x1), "") << "it has nothing to do";
  EXPECT_EQ(throttlesOf(0x4), "sw_power_cap");
  EXPECT_EQ(throttlesOf(0x60), "sw_thermal_slowdown, hw_thermal_slowdown");
  EXPECT_EQ(throttlesOf(0x1ff),
            "applications_clocks_setting, sw_power_cap, hw_slowdown, sync_boost, sw_thermal_slowdown, hw_thermal_slowdown, "
            "hw_power_brake_slowdown, display_clock_setting");
}

}  // namespace
}  // namespace tbem::measure
