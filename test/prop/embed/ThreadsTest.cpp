// Eight threads with a session each, at once, say what each says alone: checks and edits, estimates, largest batches, and steps
// with shared tensors. Built with the preset `tsan` it also shows that sessions share nothing that changes.
#include "compiler/embed/include/tbem/dlpack_abi.h"
#include "compiler/embed/include/tbem/tbem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace tbem::test {
namespace {

constexpr std::size_t kThreads = 8;

/// Another program for each number: its widths, its name, and one whose text is wrong.
std::string program(std::size_t number, bool wrong) {
  return fmt::format(
      "network net(x: tensor[n, c]) -> tensor[n, 3] {{\n  return {}(relu(dense(x, {})), 3)\n}}\n"
      "design d of net {{\n  factor batch: 2, {}\n  input x: [batch, 6]\n"
      "  task train(loss: cross_entropy, optimizer: sgd(lr: 0.25))\n  full\n}}\n",
      wrong ? "denze" : "dense", 4 + number % 4, 8 + number % 4);
}

void say(std::vector<std::string>& into, tbem_outcome outcome, tbem_result* result) {
  into.push_back(fmt::format("{}: {}{}", tbem_outcome_name(outcome), tbem_result_json(result), tbem_result_error(result)));
  tbem_result_free(result);
}

/// The losses of a few steps on an input that is shared, and the bytes of a weight behind them.
void step(std::vector<std::string>& into, tbem_session* session) {
  const tbem_option options[] = {{"on", "ref"}, {"threads", "1"}, {"at", "batch=2"}};
  tbem_step* step = nullptr;
  into.push_back(tbem_outcome_name(tbem_step_new(session, options, 3, &step, nullptr)));
  float numbers[12];
  for (int i = 0; i < 12; ++i) numbers[i] = static_cast<float>(i % 5) - 2;
  std::int64_t shape[] = {2, 6};
  DLManagedTensor tensor{};
  tensor.dl_tensor = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  into.push_back(tbem_outcome_name(tbem_step_set(step, "input/x", &tensor, TBEM_SHARE)));
  for (int i = 0; i < 5; ++i) {
    into.push_back(tbem_outcome_name(tbem_step_run(step, 1, nullptr)));
    DLManagedTensor* loss = nullptr;
    into.push_back(tbem_outcome_name(tbem_step_get(step, "loss", TBEM_SHARE, &loss)));
    float value = 0;
    if (loss != nullptr) std::memcpy(&value, loss->dl_tensor.data, sizeof value);
    into.push_back(fmt::format("{}", value));
    if (loss != nullptr) loss->deleter(loss);
  }
  tbem_step_free(step);
}

std::vector<std::string> answers(std::size_t number) {
  std::vector<std::string> said;
  tbem_session* session = nullptr;
  said.push_back(tbem_outcome_name(tbem_session_new(nullptr, &session)));
  for (const bool wrong : {false, true, false}) {
    const std::string text = program(number, wrong);
    const std::string name = fmt::format("net{}.tbem", number);
    said.push_back(tbem_outcome_name(tbem_load(session, name.c_str(), text.data(), text.size())));
    tbem_result* result = nullptr;
    tbem_outcome outcome = tbem_check(session, nullptr, 0, &result);
    say(said, outcome, result);
    outcome = tbem_estimate(session, nullptr, 0, &result);
    say(said, outcome, result);
    const tbem_option most{"max", "20KiB"};
    outcome = tbem_fit(session, &most, 1, &result);
    say(said, outcome, result);
  }
  step(said, session);
  tbem_session_free(session);
  return said;
}

TEST(Threads, EightSessionsAtOnce) {
  std::vector<std::vector<std::string>> together(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { together[i] = answers(i); });
  }
  for (std::size_t i = 0; i < kThreads; ++i) EXPECT_EQ(together[i], answers(i)) << i;
  // They had something to say, and the sessions had different programs.
  EXPECT_NE(together[0], together[1]);
  EXPECT_NE(together[0][2].find("done"), std::string::npos);
  EXPECT_NE(together[0][3].find("\"kind\":\"estimate\""), std::string::npos);
  EXPECT_NE(together[0][4].find("\"kind\":\"fit\""), std::string::npos);
  EXPECT_NE(together[0][6].find("denze"), std::string::npos);
}

}  // namespace
}  // namespace tbem::test
