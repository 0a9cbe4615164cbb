// Campaigns with workers of their own choice: what a worker cannot use is a failed row, with the reason.
#include "compiler/pipeline/Stages.h"
#include "compiler/process/OpenMp.h"
#include "compiler/support/Failed.h"
#include "test/unit/TemporaryFolder.h"
#include "test/unit/campaign/Workers.h"

#include <cstdlib>

namespace tbem::driver {
namespace {

constexpr const char* kProgram =
    "network net(x: tensor[n, c]) -> tensor[n, 4] { return dense(x, 4) }\n"
    "design d of net {\n  factor batch: 2, 3\n  input x: [batch, 8]\n  full\n}\n"
    "measure d {\n  on ref\n  metric memory\n  repeat 1\n}\n";

/// Keeps what was measured.
struct Listener : RunEvents {
  std::vector<runtime::Measurement> measured;
  void rowDone(const runtime::Case& /*key*/, const runtime::Measurement& value, const CaseRow& /*row*/) override {
    measured.push_back(value);
  }
};

class CampaignTest : public test::TemporaryFolder {
protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    ::setenv("XDG_CACHE_HOME", (folder + "/caches").c_str(), 1);
  }

  /// The cases of the program, measured by this worker.
  std::vector<runtime::Measurement> measure(const std::string& worker, unsigned repeats = 1) {
    Request request;
    request.program.text = kProgram;
    request.target.seed = 7;
    request.campaign.worker = worker;
    request.campaign.store = folder + "/store.tbemdb";
    request.campaign.repeat = repeats;
    Listener events;
    PipelineState state(request, events);
    state.listener = &events;
    EXPECT_TRUE(runStages(state, "measure"));
    verdict = state.measured.verdict ? kOk : state.measured.verdict.error().status;
    return events.measured;
  }

  /// Every case failed, and for this reason.
  void expectFailed(const std::string& worker, const std::string& reason) {
    const auto measured = measure(worker);
    EXPECT_EQ(measured.size(), 2U);
    EXPECT_EQ(verdict, kRunFailed);
    for (const runtime::Measurement& one : measured) {
      EXPECT_EQ(one.status, runtime::Status::Failed);
      EXPECT_NE(one.reason.find(reason), std::string::npos) << one.reason;
    }
  }

  ExitCode verdict = kInternal;  ///< of the last campaign
};

TEST_F(CampaignTest, EachRepeatIsMeasuredByItsWorker) {
  const auto measured = measure(test::workerCalled("plain", folder), 2);
  ASSERT_EQ(measured.size(), 4U);
  EXPECT_EQ(verdict, kOk);
  for (const runtime::Measurement& one : measured) {
    EXPECT_EQ(one.status, runtime::Status::Ok) << one.reason;
    EXPECT_EQ(one.arenaPeak, one.arenaPlanned);
    EXPECT_EQ(one.arenaPlanned, one.arena);
    EXPECT_GE(one.samples.size(), 20U);
  }
}

TEST_F(CampaignTest, AFileThatIsCutOffFailsItsRow) {
  expectFailed(test::workerCalled("cut", folder), "another checksum than that of what follows");
}

TEST_F(CampaignTest, AFileThatWasAlteredFailsItsRow) {
  expectFailed(test::workerCalled("altered", folder), "remove it and measure again");
}

TEST_F(CampaignTest, ARowForAnotherDeviceFails) {
  expectFailed(test::workerCalled("elsewhere", folder), "the row was planned for another machine, this is ");
}

TEST_F(CampaignTest, AWorkerThatIsNotThereFailsItsRows) {
  expectFailed(folder + "/none", folder + "/none is not there: it is built with tbemc");
}

TEST(OpenMp, AWorkersThreadsAreToldHowLongTheySpin) {
  ::unsetenv("GOMP_SPINCOUNT");
  ::unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(waitingThreads(), std::vector<std::string>{"GOMP_SPINCOUNT=1000"});
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_TRUE(waitingThreads().empty());
  ::unsetenv("OMP_WAIT_POLICY");
  ::setenv("GOMP_SPINCOUNT", "5", 1);
  EXPECT_TRUE(waitingThreads().empty());
  ::unsetenv("GOMP_SPINCOUNT");
}

}  // namespace
}  // namespace tbem::driver
