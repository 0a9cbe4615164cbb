// The scripted failures: each directive does what its line in Script.h says, at the run that it names, and no other.
#include "runtime/backends/fake/Script.h"
#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

namespace tbem::test {
namespace {

class Fake : public testing::Test {
protected:
  void TearDown() override { ::unsetenv("TBEM_FAKE"); }
  static void script(const char* text) { ::setenv("TBEM_FAKE", text, 1); }
  static Outcome run(const Problem& problem) { return runOn(fake, problem, {TBEM_F64, 1, {}}); }
  static Problem sum() { return {TBEM_PRIMITIVE_reduce_sum, {1, 0}, {}, {Array{{3}, {1, 2, 4}, false}}, {Array{{}, {}, false}}}; }
  static Problem product() {
    return {
        TBEM_PRIMITIVE_matmul, {0, 0}, {}, {Array{{1, 1}, {3}, false}, Array{{1, 1}, {5}, false}}, {Array{{1, 1}, {}, false}}};
  }
  static inline const tbem_backend& fake = *tbem_backend_fake();
};

TEST_F(Fake, WithoutAScriptItIsRef) {
  EXPECT_EQ(run(sum()).outputs[0], std::vector<double>{7});
  tbem_device_info info;
  EXPECT_EQ(fake.probe(&info), TBEM_OK);
  EXPECT_EQ(fake.synchronize(), TBEM_OK);
}

TEST_F(Fake, FailsAtTheNamedRunOnly) {
  script("fail=reduce_sum:2");
  EXPECT_EQ(run(sum()).status, TBEM_OK);
  EXPECT_EQ(run(product()).status, TBEM_OK);
  const Outcome second = run(sum());
  EXPECT_EQ(second.status, TBEM_FAILED);
  EXPECT_NE(second.error.find("reduce_sum"), std::string::npos);
  EXPECT_EQ(run(sum()).status, TBEM_OK);
}

TEST_F(Fake, GivesWrongNumbersAtTheNamedRunOnly) {
  script("wrong=matmul:2");
  EXPECT_EQ(run(product()).outputs[0], std::vector<double>{15});
  EXPECT_EQ(run(product()).outputs[0], std::vector<double>{16});
  EXPECT_EQ(run(product()).outputs[0], std::vector<double>{15});
}

TEST_F(Fake, RunsOutOfMemoryAboveItsLimit) {
  script("oom_at=1MiB");
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(fake.allocate(1 << 19, &first), TBEM_OK);
  EXPECT_EQ(fake.allocate((1 << 19) + 1, &second), TBEM_OUT_OF_MEMORY);
  EXPECT_EQ(second, nullptr);
  EXPECT_NE(std::string(fake.last_error()).find("524289"), std::string::npos);
  ASSERT_EQ(fake.allocate(1 << 19, &second), TBEM_OK);
  fake.release(first, 1 << 19);
  fake.release(second, 1 << 19);
  ASSERT_EQ(fake.allocate(1 << 20, &first), TBEM_OK);
  fake.release(first, 1 << 20);
}

TEST_F(Fake, LacksAPrimitiveOrTheDevice) {
  script("unsupported=matmul,probe=fail");
  EXPECT_EQ(run(product()).status, TBEM_UNSUPPORTED);
  EXPECT_EQ(run(sum()).status, TBEM_OK);
  tbem_device_info info;
  EXPECT_EQ(fake.probe(&info), TBEM_FAILED);
}

TEST_F(Fake, FailsCrashesAndIsSlow) {
  script("fail=step:2");
  EXPECT_EQ(fake.synchronize(), TBEM_OK);
  EXPECT_EQ(fake.synchronize(), TBEM_FAILED);
  EXPECT_EQ(fake.synchronize(), TBEM_OK);
  script("crash=matmul:2");
  EXPECT_EQ(run(product()).status, TBEM_OK);
  EXPECT_DEATH(run(product()), "");
  Problem large{
      TBEM_PRIMITIVE_matmul,
      {0, 0},
      {},
      {Array{{160, 160}, std::vector<double>(25600, 1), false}, Array{{160, 160}, std::vector<double>(25600, 1), false}},
      {Array{{160, 160}, {}, false}}};
  const auto seconds = [&] {
    const auto start = std::chrono::steady_clock::now();
    run(large);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  script("");
  double usual = seconds();
  for (int i = 0; i < 5; ++i) usual = std::min(usual, seconds());
  script("slow=20");
  EXPECT_GT(seconds(), 5 * usual);
}

TEST_F(Fake, RefusesATextThatItDoesNotUnderstand) {
  for (const char* text : {"fail", "fail=conv3d", "oom_at=many", "oom_at=-1", "slow=0.5", "wrong=step", "fail=conv2d:0",
                           "fail=conv2d:x", "later=1", "probe=ok"}) {
    EXPECT_NE(tbem::fake::readScript(text).wrong, "") << text;
    script(text);
    tbem_device_info info;
    EXPECT_EQ(fake.probe(&info), TBEM_INVALID) << text;
    EXPECT_NE(std::string(fake.last_error()).find("TBEM_FAKE"), std::string::npos);
  }
  const tbem::fake::Script good = tbem::fake::readScript("oom_at=1.5KiB,crash=step,hang=conv2d:7");
  EXPECT_EQ(good.wrong, "");
  EXPECT_EQ(good.memory, 1536u);
  ASSERT_EQ(good.events.size(), 2u);
  EXPECT_EQ(good.events[0].primitive, TBEM_PRIMITIVE_COUNT);
  EXPECT_EQ(good.events[1].count, 7);
}

}  // namespace
}  // namespace tbem::test
