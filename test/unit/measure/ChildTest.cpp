// Children: what they say, how they end, what that means.
#include "Workers.h"

#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"
#include "test/unit/MeasuredEverywhere.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tbem::measure {
namespace {

using runtime::Status;

Outcome run(const std::vector<std::string>& argv, double limit = 20, const std::string& input = "", std::uint64_t memory = 0) {
  Command command;
  command.argv = argv;
  command.timeLimit = limit;
  command.input = input;
  command.memoryLimit = memory;
  auto outcome = spawn(command);
  if (!outcome) throw std::runtime_error(outcome.error());
  return *outcome;
}

bool alive(pid_t pid) {
  // A process that ended and waits to be reaped by init is dead for us.
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, state;
  return static_cast<bool>(stat >> id >> name >> state) && state != "Z" && state != "X";
}

bool endsWithin(pid_t pid, double seconds) {
  const double end = monotonicSeconds() + seconds;
  while (alive(pid) && monotonicSeconds() < end) ::usleep(2000);
  return !alive(pid);
}

TEST(Spawn, GivesInputAndTakesOutput) {
  const Outcome outcome = run(as("echo"), 20, "one\ntwo");
  EXPECT_EQ(outcome.output, "one\ntwo");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_FALSE(outcome.timedOut);
}

TEST(Spawn, NeitherPipeDeadlocks) {
  // Far more than a pipe holds (64 KiB), both ways at once.
  const std::string input(5'000'000, 'i');
  EXPECT_EQ(run(as("echo"), 30, input).output, input);
  const Outcome outcome = run(as("flood", {"5000000"}), 30);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output.size(), 5'000'000u);
  EXPECT_EQ(outcome.errorTail, std::string(16384, 'e'));
}

TEST(Spawn, AChildThatDoesNotReadIsNoHarm) {
  const Outcome outcome = run(as("exit", {"0"}), 20, std::string(5'000'000, 'i'));
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(::raise(0), 0);  // SIGPIPE has not reached this process
}

TEST(Spawn, CutsOutputAtTheLimit) {
  Command command;
  command.argv = as("flood", {"100000"});
  command.maxOutput = 1234;
  const auto outcome = spawn(command);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->output.size(), 1234u);
  EXPECT_TRUE(outcome->outputCut);
  EXPECT_EQ(outcome->exitCode, 0);
  EXPECT_EQ(classify(*outcome, 0).status, Status::Failed);
}

TEST(Spawn, SaysWhyAProgramCannotStart) {
  Command command;
  command.argv = {"/no/such/program"};
  auto outcome = spawn(command);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().find("/no/such/program"), std::string::npos);
  EXPECT_NE(outcome.error().find("No such file"), std::string::npos);
  command.argv.clear();
  EXPECT_FALSE(spawn(command).has_value());
}

TEST(Spawn, FindsProgramsInPathAndSetsVariables) {
  Command command;
  command.argv = {"sh", "-c", "echo $TBEM_TEST_VARIABLE $HOME"};
  command.environment = {"TBEM_TEST_VARIABLE=here", "HOME=/elsewhere"};
  const auto outcome = spawn(command);
  ASSERT_TRUE(outcome.has_value()) << outcome.error();
  EXPECT_EQ(outcome->output, "here /elsewhere\n");
}

TEST(Spawn, KillsAtTheTimeLimit) {
  const double before = monotonicSeconds();
  const Outcome outcome = run(as("hang"), 0.3);
  EXPECT_LT(monotonicSeconds() - before, 5);
  EXPECT_GE(outcome.wallSeconds, 0.3);
  EXPECT_TRUE(outcome.timedOut);
  EXPECT_EQ(outcome.signal, SIGKILL);
  const auto meaning = classify(outcome, 0.3);
  EXPECT_EQ(meaning.status, Status::Timeout);
  EXPECT_EQ(meaning.reason, "did not end within 0.3 s: hanging");
}

TEST(Spawn, LeavesNoZombieAndNoGrandchild) {
  const double before = monotonicSeconds();
  const Outcome outcome = run(as("orphan"));
  EXPECT_LT(monotonicSeconds() - before, 5);  // though the grandchild held the pipes
  const pid_t grandchild = std::stoi(outcome.output);
  EXPECT_TRUE(endsWithin(grandchild, 5));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Spawn, ChildrenDieWithTheirParent) {
  std::string folder = (std::filesystem::temp_directory_path() / "tbem-child-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/pid";
  auto argv = as("parent", {file});
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ::execl(argv[0].c_str(), argv[0].c_str(), argv[1].c_str(), argv[2].c_str(), argv[3].c_str(), nullptr);
    ::_exit(127);
  }
  pid_t child = 0;
  for (int i = 0; i < 2000 && child == 0; ++i) {
    ::usleep(5000);
    std::ifstream(file) >> child;
  }
  ASSERT_GT(child, 0);
  EXPECT_TRUE(alive(child));
  ::kill(parent, SIGKILL);
  EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(endsWithin(child, 5));
  std::filesystem::remove_all(folder);
}

TEST(Spawn, CtrlCDoesNotReachTheRowInHand) {
  // Its own process group: a terminal sends SIGINT to the group in the foreground, ours.
  const Outcome outcome = run({"sh", "-c", "echo $(ps -o pgid= -p $$) $$"});
  int group = 0, pid = 0;
  if (std::sscanf(outcome.output.c_str(), "%d %d", &group, &pid) != 2) GTEST_SKIP() << "no ps here";
  EXPECT_EQ(group, pid);
  EXPECT_NE(group, ::getpgrp());
}

TEST(Classify, AnAbortIsAFailureWithItsLastWords) {
  const auto meaning = classify(run(as("abort")), 0);
  EXPECT_EQ(meaning.status, Status::Failed);
  EXPECT_EQ(meaning.reason, "ended by signal 6 (Aborted): an assertion failed");
}

TEST(Classify, ACodeIsAFailureWithItsLastWords) {
  const auto meaning = classify(run(as("exit", {"3"})), 0);
  EXPECT_EQ(meaning.status, Status::Failed);
  EXPECT_EQ(meaning.reason, "ended with code 3: last words");
}

TEST(Classify, ASegmentationFaultIsAFailure) {
  const auto meaning = classify(run(as("segfault")), 0);
  EXPECT_EQ(meaning.status, Status::Failed);
  EXPECT_NE(meaning.reason.find("signal 11"), std::string::npos);
}

TEST(Classify, AWorkerWithoutMemoryIsOutOfMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs terabytes of address space";
#endif
  const Outcome outcome = run(as("hoard"), 60, "", 600u << 20);
  EXPECT_EQ(outcome.exitCode, kExitOutOfMemory) << outcome.errorTail;
  const auto meaning = classify(outcome, 0);
  EXPECT_EQ(meaning.status, Status::OutOfMemory);
  EXPECT_NE(meaning.reason.find("no memory for 16 MiB more"), std::string::npos);
}

TEST(Classify, AKillIsOutOfMemoryOnlyIfTheKernelSaysSo) {
  Outcome outcome = run(as("kill"));
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_FALSE(outcome.timedOut);
  outcome.oomKills = 0;
  EXPECT_EQ(classify(outcome, 0).status, Status::Failed);
  outcome.oomKills = 1;
  EXPECT_EQ(classify(outcome, 0).status, Status::OutOfMemory);
  outcome.oomKills = std::nullopt;
  EXPECT_EQ(classify(outcome, 0).status, Status::OutOfMemory);
}

TEST(Classify, AnAnswerThatIsNoneIsAFailure) {
  for (const char* answer : {"", "hello", "[1]", "{}", R"({"status":"fine"})", R"({"status":"ok","memory_peak":-1})",
                             R"({"status":"ok","memory_peak":1.5})", R"({"status":"ok","samples":[1,"x"]})",
                             R"({"status":"ok","latency_median":"fast"})", R"({"status":"ok")"}) {
    const auto meaning = classify(run(as("say", {answer})), 0);
    EXPECT_EQ(meaning.status, Status::Failed) << answer;
    EXPECT_NE(meaning.reason.find("cannot be read"), std::string::npos) << meaning.reason;
  }
}

TEST(RunChild, FillsInWhatTheWorkerCouldNotTell) {
  Command command;
  command.argv = as("abort");
  command.timeLimit = 30;
  const double before = unixSeconds();
  const auto value = runChild(command);
  EXPECT_EQ(value.status, Status::Failed);
  EXPECT_GE(value.started, before);
  EXPECT_GE(value.finished, value.started);
  EXPECT_EQ(value.timeLimit, 30);
  EXPECT_FALSE(value.memoryReason.empty());
  command.argv = {"/no/such/program"};
  EXPECT_EQ(runChild(command).status, Status::Failed);
  EXPECT_NE(runChild(command).reason.find("/no/such/program"), std::string::npos);
  command.argv = as("say", {R"({"status":"ok","memory_peak":5,"started":7,"finished":8})"});
  EXPECT_GE(runChild(command).started, before);
  EXPECT_EQ(runChild(command).memoryPeak, 5u);
}

TEST(Json, KeepsEveryFieldThroughALine) {
  runtime::Measurement put;
  put.status = Status::Ok;
  put.reason = "quote \" and µ and \n";
  put.memoryPeak = (1ull << 63) + 12345;  // beyond what a double holds
  put.arenaPeak = 9007199254740993ull;
  put.latencyMedian = 0.1;
  put.latencyP95 = 1.0 / 3;
  put.samples = {1e-9, 0.1 + 0.2, 5e-324};
  put.energyReason = "none";
  put.lossNotFinite = "-inf";
  put.load = {0.25, std::nullopt, 0.5, 1.5};
  put.staticMemory = 7;
  put.machine = "two threads";
  put.started = 1700000000.123;
  put.timeLimit = 2.5;
  const std::string line = toJson(put);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto got = parseMeasurement(line);
  ASSERT_TRUE(got.has_value()) << got.error();
  EXPECT_EQ(got->reason, put.reason);
  EXPECT_EQ(got->memoryPeak, put.memoryPeak);
  EXPECT_EQ(got->memoryBaseline, std::nullopt);
  EXPECT_EQ(got->arenaPeak, put.arenaPeak);
  EXPECT_EQ(got->latencyMedian, put.latencyMedian);
  EXPECT_EQ(got->latencyP05, std::nullopt);
  EXPECT_EQ(got->latencyP95, put.latencyP95);
  EXPECT_EQ(got->samples, put.samples);
  EXPECT_EQ(got->energy, std::nullopt);
  EXPECT_EQ(got->energyReason, "none");
  EXPECT_EQ(got->lossNotFinite, "-inf");
  EXPECT_EQ(got->load.others, 0.25);
  EXPECT_EQ(got->load.stolen, std::nullopt);
  EXPECT_EQ(got->load.waited, 0.5);
  EXPECT_EQ(got->load.average, 1.5);
  EXPECT_EQ(got->staticMemory, 7u);
  EXPECT_EQ(got->machine, put.machine);
  EXPECT_EQ(got->started, put.started);
  EXPECT_EQ(got->timeLimit, 2.5);
}

TEST(Json, KeepsEachFieldOfTheListApart) {
  const runtime::Measurement put = test::measuredEverywhere();
  const auto got = parseMeasurement(toJson(put));
  ASSERT_TRUE(got.has_value()) << got.error();
  test::expectSameEverywhere(*got, put);
}

TEST(Json, NamesTheFieldThatIsNotAsItShouldBe) {
  const auto got = parseMeasurement(R"({"status":"ok","memory_peak":-1})");
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error(), "`memory_peak` is not a whole number of bytes or null");
}

}  // namespace
}  // namespace tbem::measure
