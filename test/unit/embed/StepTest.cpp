// Steps through tbem.h: tensors in and out, with and without a copy, and what keeps their memory.
#include "Embedded.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

namespace tbem::test {
namespace {

constexpr std::string_view kAffine =
    "network net(x: tensor[n, c]) -> tensor[n, 2] { return dense(x, 2) }\ndesign d of net { input x: [3, 5] }\n";

/// x w^T + b in plain loops.
std::vector<float> affine(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& b,
                          std::size_t inner) {
  const std::size_t rows = x.size() / inner, columns = b.size();
  std::vector<float> y;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = b[j];
      for (std::size_t k = 0; k < inner; ++k) sum += static_cast<double>(x[i * inner + k]) * w[j * inner + k];
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

void expectNear(const std::vector<float>& is, const std::vector<float>& wanted) {
  ASSERT_EQ(is.size(), wanted.size());
  for (std::size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], wanted[i], 1e-5 * std::max(1.0F, std::abs(wanted[i]))) << i;
}

std::vector<float> ramp(std::size_t count, float from, float step) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = from + step * static_cast<float>(i);
  return numbers;
}

/// Names of weights: the first is a matrix, the second a vector.
std::vector<std::string> weightsOf(tbem_step* step) {
  std::vector<std::string> names(2);
  for (std::size_t i = 0; i < tbem_step_tensor_count(step); ++i) {
    tbem_tensor info{};
    info.size = sizeof info;
    EXPECT_EQ(tbem_step_tensor(step, i, &info), TBEM_DONE);
    if (std::string_view(info.name).starts_with("weight/")) names[info.rank == 2 ? 0 : 1] = info.name;
  }
  return names;
}

class Backends : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Backends, testing::Values("ref", "cpu"));

TEST_P(Backends, SharedAndCopiedInputsGiveTheSameNumbers) {
  const SessionHolder holder(kAffine);
  const StepHolder made(holder, {{"on", GetParam()}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
  const std::vector<std::string> weights = weightsOf(made.step);
  std::vector<float> x = ramp(15, -1, 0.25F), w = ramp(10, 2, -0.5F), b = {0.5F, -3};
  Given<> input(x.data(), {3, 5}), matrix(w.data(), {2, 5}), vector(b.data(), {2});
  ASSERT_EQ(tbem_step_set(made.step, weights[0].c_str(), &matrix.tensor, TBEM_COPY), TBEM_DONE) << made.error();
  ASSERT_EQ(tbem_step_set(made.step, weights[1].c_str(), &vector.tensor, TBEM_COPY), TBEM_DONE) << made.error();
  EXPECT_EQ(matrix.released, 1);
  ASSERT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, TBEM_SHARE), TBEM_DONE) << made.error();
  EXPECT_EQ(input.released, 0);
  ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE) << made.error();
  expectNear(copied<float>(made.step, "output"), affine(x, w, b, 5));
  // The next run reads what stands there then.
  std::ranges::copy(ramp(15, 3, -1.5F), x.begin());
  ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE);
  expectNear(copied<float>(made.step, "output"), affine(x, w, b, 5));
  EXPECT_EQ(copied<float>(made.step, "input/x"), x);
  // A copy takes its place, and the shared tensor goes; strides may be any.
  std::vector<float> columns(15);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 5; ++k) columns[k * 3 + i] = x[i * 5 + k] * 2;
  }
  Given<> turned(columns.data(), {3, 5}, {kDLFloat, 32, 1}, {1, 3});
  ASSERT_EQ(tbem_step_set(made.step, "input/x", &turned.tensor, TBEM_COPY), TBEM_DONE) << made.error();
  EXPECT_EQ(input.released, 1);
  EXPECT_EQ(turned.released, 1);
  for (float& number : x) number *= 2;
  ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE);
  expectNear(copied<float>(made.step, "output"), affine(x, w, b, 5));
}

TEST_P(Backends, NoByteBehindASharedInputIsRead) {
  const SessionHolder holder(
      "network net(x: tensor[n, c]) -> tensor[n, c] { return relu(x * 2.0 + 1.0) }\ndesign d of net { input x: [7, 9] }\n");
  const StepHolder made(holder, {{"on", GetParam()}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const pages = static_cast<char*>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
  // At the end of the page, and at its beginning: reading beyond either ends the process.
  for (const std::size_t at : {page - 63 * sizeof(float), std::size_t{0}}) {
    auto* const numbers = reinterpret_cast<float*>(pages + page + at);
    for (std::size_t i = 0; i < 63; ++i) numbers[i] = static_cast<float>(i) - 30;
    Given<> input(numbers, {7, 9});
    ASSERT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, TBEM_SHARE), TBEM_DONE) << made.error();
    ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE) << made.error();
    std::vector<float> wanted;
    for (std::size_t i = 0; i < 63; ++i) wanted.push_back(std::max(0.0F, numbers[i] * 2 + 1));
    EXPECT_EQ(copied<float>(made.step, "output"), wanted);
    std::vector<float> other(63, 1);
    Given<> next(other.data(), {7, 9});
    ASSERT_EQ(tbem_step_set(made.step, "input/x", &next.tensor, TBEM_COPY), TBEM_DONE);
  }
  munmap(pages, 3 * page);
}

TEST_P(Backends, TrainingWithSharedInputsIsTrainingWithCopies) {
  const SessionHolder holder(kTrained);
  std::vector<float> x = ramp(15, -1, 0.2F);
  std::vector<std::int64_t> target{1, 0, 1};
  std::vector<std::vector<float>> losses(2);
  for (const tbem_transfer transfer : {TBEM_SHARE, TBEM_COPY}) {
    const StepHolder made(holder, {{"on", GetParam()}, {"seed", "7"}});
    ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
    Given<> input(x.data(), {3, 5}), classes(target.data(), {3}, {kDLInt, 64, 1});
    ASSERT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, transfer), TBEM_DONE) << made.error();
    ASSERT_EQ(tbem_step_set(made.step, "target", &classes.tensor, transfer), TBEM_DONE) << made.error();
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE) << made.error();
      losses[transfer].push_back(copied<float>(made.step, "loss")[0]);
    }
    EXPECT_LT(losses[transfer].back(), 0.5F * losses[transfer].front());
  }
  EXPECT_EQ(losses[TBEM_SHARE], losses[TBEM_COPY]);
}

TEST(SharedResults, AreTheStepsMemoryAndKeepIt) {
  const SessionHolder holder(kAffine);
  tbem_step* step = nullptr;
  ASSERT_EQ(tbem_step_new(holder.session, nullptr, 0, &step, nullptr), TBEM_DONE) << holder.error();
  std::vector<float> x = ramp(15, 0, 1);
  Given<> input(x.data(), {3, 5});
  ASSERT_EQ(tbem_step_set(step, "input/x", &input.tensor, TBEM_SHARE), TBEM_DONE);
  DLManagedTensor *output = nullptr, *again = nullptr, *shared = nullptr;
  ASSERT_EQ(tbem_step_get(step, "output", TBEM_SHARE, &output), TBEM_DONE) << tbem_step_error(step);
  ASSERT_EQ(tbem_step_get(step, "output", TBEM_SHARE, &again), TBEM_DONE);
  EXPECT_EQ(output->dl_tensor.data, again->dl_tensor.data);
  ASSERT_EQ(tbem_step_get(step, "input/x", TBEM_SHARE, &shared), TBEM_DONE);
  EXPECT_EQ(shared->dl_tensor.data, x.data());
  ASSERT_EQ(tbem_step_run(step, 1, nullptr), TBEM_DONE);
  const std::vector<float> numbers = copied<float>(step, "output");
  again->deleter(again);
  tbem_step_free(step);
  // The step is gone for the caller; the tensors have its memory, and the shared input still its owner.
  EXPECT_EQ(input.released, 0);
  const auto* const data = static_cast<const float*>(output->dl_tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + 6), numbers);
  std::thread([&] { output->deleter(output); }).join();
  EXPECT_EQ(input.released, 0);
  shared->deleter(shared);
  EXPECT_EQ(input.released, 1);
}

TEST(SharedResults, WrittenToAnInputBeginTheNextRun) {
  const SessionHolder holder(kAffine);
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE);
  const std::vector<std::string> names = weightsOf(made.step);
  const std::vector<float> w = copied<float>(made.step, names[0].c_str());
  for (const char* name : {"input/x", names[1].c_str()}) {
    DLManagedTensor* own = nullptr;
    ASSERT_EQ(tbem_step_get(made.step, name, TBEM_SHARE, &own), TBEM_DONE) << made.error();
    auto* const numbers = static_cast<float*>(own->dl_tensor.data);
    std::fill(numbers, numbers + (name[0] == 'i' ? 15 : 2), 3.0F);
    own->deleter(own);
  }
  ASSERT_EQ(tbem_step_run(made.step, 1, nullptr), TBEM_DONE);
  expectNear(copied<float>(made.step, "output"), affine(std::vector<float>(15, 3), w, {3, 3}, 5));
}

TEST(Steps, TellWhatTheyCameTo) {
  const SessionHolder holder(kTrained);
  const StepHolder made(holder, {});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error;
  tbem_result* result = nullptr;
  tbem_outcome outcome = tbem_step_run(made.step, 3, &result);
  const Said answer = said(outcome, result);
  EXPECT_EQ(answer.outcome, TBEM_DONE);
  EXPECT_EQ(answer.lines, 1U);
  EXPECT_TRUE(has(answer.json, "{\"kind\":\"step\",\"schema\":1,\"network\":\"net\",\"design\":\"d\",\"row\":0"));
  EXPECT_TRUE(has(answer.json, "\"not_finite\":[]"));
  std::vector<float> x(15, INFINITY);
  Given<> input(x.data(), {3, 5});
  ASSERT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, TBEM_COPY), TBEM_DONE);
  result = nullptr;
  outcome = tbem_step_run(made.step, 1, &result);
  EXPECT_TRUE(has(said(outcome, result).json, "\"array\":\"output\""));
}

TEST(Steps, DescribeTheirTensors) {
  const SessionHolder holder(kTrained);
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tbem_step_tensor_count(made.step); ++i) {
    tbem_tensor info{};
    info.size = sizeof info;
    ASSERT_EQ(tbem_step_tensor(made.step, i, &info), TBEM_DONE);
    names.emplace_back(info.name);
    const bool input = names.back() == "input/x" || names.back() == "target";
    EXPECT_EQ((info.flags & TBEM_TENSOR_SHARED_IN) != 0, input) << info.name;
    EXPECT_EQ((info.flags & TBEM_TENSOR_BEGINS) != 0, input || names.back().starts_with("weight/")) << info.name;
    EXPECT_NE(info.flags & TBEM_TENSOR_SHARED_OUT, 0U) << info.name;
    EXPECT_EQ(*info.copied_in == '\0', input) << info.name;
    EXPECT_STREQ(info.copied_out, "") << info.name;
    EXPECT_STREQ(info.dtype, names.back() == "target" ? "i64" : "f32");
  }
  EXPECT_EQ(std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("gradient/"); }), 4);
  for (const char* name : {"input/x", "target", "output", "loss"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end());
}

TEST(Inputs, ThatMayNotLieOutsideAreCopied) {
  // The step begins with parts of the batch: it looks for each where the whole lies.
  const SessionHolder holder(
      "network net(x: tensor[n, c]) -> tensor[n, 2] { return dense(x, 2) }\n"
      "design d of net {\n  input x: [4, 5]\n  task train(loss: mse, optimizer: sgd(lr: 0.1))\n  accumulate 2\n}\n");
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
  std::vector<float> x = ramp(20, 0, 1);
  Given<> input(x.data(), {4, 5});
  EXPECT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, TBEM_SHARE), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "a copy would be needed: the step takes the batch in parts"));
  EXPECT_EQ(tbem_step_set(made.step, "input/x", &input.tensor, TBEM_COPY), TBEM_DONE);
  EXPECT_EQ(copied<float>(made.step, "input/x"), x);
}

}  // namespace
}  // namespace tbem::test
