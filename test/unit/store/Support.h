// A folder of its own for each test, and measurements to put into stores.
#pragma once

#include "runtime/store/Store.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tbem::store {

class StoreTest : public test::TemporaryFolder {
protected:
  void SetUp() override {
    test::TemporaryFolder::SetUp();
    file = folder + "/table1.tbemdb";
  }

  Store opened(Mode mode = Mode::ReadWrite) {
    auto store = Store::open(file, mode);
    if (!store) throw std::runtime_error(store.error().message);  // GoogleTest reports it as the test's failure
    return std::move(*store);
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  /// Runs `fill(file, report)` in a child, which ends with what it returns and has then written a report; that is returned.
  std::string reportOfChild(int (*fill)(const std::string& file, const std::string& report)) const {
    const std::string report = folder + "/report";
    const pid_t pid = ::fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) ::_exit(fill(file, report));
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << contents(report);
    return contents(report);
  }

  std::string file;
};

inline runtime::Case caseOf(const std::string& identity, std::uint32_t repeat = 0, const std::string& design = "table1",
                            std::uint32_t row = 3) {
  return {identity, design, row, R"({"batch":64,"depth":16})", "cpu", repeat, 1};
}

inline runtime::Measurement fullMeasurement() {
  runtime::Measurement value;
  value.status = runtime::Status::Ok;
  value.memoryPeak = 123456789;
  value.memoryBaseline = 4096;
  value.memoryReason = "m";
  value.arenaPeak = 1ull << 40;
  value.arenaPlanned = (1ull << 40) + 64;
  value.latencyMedian = 0.1;
  value.latencyP05 = 1.0 / 3;
  value.latencyP95 = 5e-324;
  value.samples = {0.1, 1.0 / 3, 5e-324, 1e308};
  value.energyReason = "no counters: \"none\"";
  value.lossNotFinite = "nan";
  value.load = {0.25, 0.125, std::nullopt, 1.5};
  value.staticMemory = 1;
  value.live = 2;
  value.arena = 3;
  value.machine = "a µ-processor, 2 threads";
  value.versions = "oneDNN 2.6.3";
  value.started = 1700000000.25;
  value.finished = 1700000001.5;
  value.timeLimit = 60;
  return value;
}

inline runtime::Measurement withStatus(runtime::Status status, const std::string& reason = "", double limit = 0) {
  runtime::Measurement value;
  value.status = status;
  value.reason = reason;
  value.timeLimit = limit;
  return value;
}

}  // namespace tbem::store
