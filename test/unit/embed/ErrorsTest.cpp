// Every way in which a function of tbem.h says no.
#include "Embedded.h"
#include "compiler/embed/Guard.h"
#include "compiler/support/Bug.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace tbem::test {
namespace {

TEST(Outcomes, HaveNames) {
  EXPECT_STREQ(tbem_outcome_name(TBEM_DONE), "done");
  EXPECT_STREQ(tbem_outcome_name(TBEM_INTERNAL), "internal");
  EXPECT_STREQ(tbem_outcome_name(static_cast<tbem_outcome>(99)), "unknown");
  EXPECT_EQ(tbem_abi(), TBEM_ABI);
  EXPECT_TRUE(has(tbem_version(), "."));
}

TEST(Null, IsRefusedAndFreed) {
  tbem_session_free(nullptr);
  tbem_result_free(nullptr);
  tbem_step_free(nullptr);
  EXPECT_STREQ(tbem_session_error(nullptr), "");
  EXPECT_STREQ(tbem_step_error(nullptr), "");
  EXPECT_STREQ(tbem_result_json(nullptr), "");
  EXPECT_STREQ(tbem_result_error(nullptr), "");
  EXPECT_STREQ(tbem_result_notes(nullptr), "");
  EXPECT_EQ(tbem_result_line_count(nullptr), 0U);
  EXPECT_EQ(tbem_result_line(nullptr, 0), nullptr);
  EXPECT_EQ(tbem_step_tensor_count(nullptr), 0U);
  EXPECT_EQ(tbem_session_new(nullptr, nullptr), TBEM_MISUSE);
  EXPECT_EQ(tbem_load(nullptr, "a", "", 0), TBEM_MISUSE);
  tbem_result* result = reinterpret_cast<tbem_result*>(1);
  EXPECT_EQ(tbem_check(nullptr, nullptr, 0, &result), TBEM_MISUSE);
  EXPECT_EQ(result, nullptr);
  tbem_step* step = reinterpret_cast<tbem_step*>(1);
  result = reinterpret_cast<tbem_result*>(1);
  EXPECT_EQ(tbem_step_new(nullptr, nullptr, 0, &step, &result), TBEM_MISUSE);
  EXPECT_EQ(step, nullptr);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(tbem_step_run(nullptr, 1, nullptr), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_set(nullptr, "x", nullptr, TBEM_COPY), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_set_versioned(nullptr, "x", nullptr, TBEM_COPY), TBEM_MISUSE);
  DLManagedTensor* tensor = reinterpret_cast<DLManagedTensor*>(1);
  EXPECT_EQ(tbem_step_get(nullptr, "x", TBEM_COPY, &tensor), TBEM_MISUSE);
  EXPECT_EQ(tensor, nullptr);
  DLManagedTensorVersioned* versioned = reinterpret_cast<DLManagedTensorVersioned*>(1);
  EXPECT_EQ(tbem_step_get_versioned(nullptr, "x", TBEM_COPY, &versioned), TBEM_MISUSE);
  EXPECT_EQ(versioned, nullptr);
  tbem_tensor info{};
  EXPECT_EQ(tbem_step_tensor(nullptr, 0, &info), TBEM_MISUSE);
}

TEST(Settings, OfAnotherSizeOrWithNulls) {
  tbem_session* session = nullptr;
  tbem_settings settings{};
  EXPECT_EQ(tbem_session_new(&settings, &session), TBEM_MISUSE);  // size 0
  settings.size = sizeof settings;
  settings.module_count = 1;
  EXPECT_EQ(tbem_session_new(&settings, &session), TBEM_MISUSE);
  const char* folders[] = {nullptr};
  settings.modules = folders;
  EXPECT_EQ(tbem_session_new(&settings, &session), TBEM_MISUSE);
  EXPECT_EQ(session, nullptr);
}

TEST(Load, Refuses) {
  const SessionHolder holder;
  EXPECT_EQ(tbem_load(holder.session, "a", nullptr, 0), TBEM_MISUSE);
  EXPECT_TRUE(has(holder.error(), "`text` is null"));
  EXPECT_EQ(tbem_load(holder.session, "a", "x\0y", 3), TBEM_USAGE);
  EXPECT_TRUE(has(holder.error(), "no program"));
  EXPECT_EQ(tbem_load(holder.session, nullptr, "relu()", 6), TBEM_DONE);
  EXPECT_EQ(holder.error(), "");
}

TEST(Questions, NeedAProgramAndSoundArguments) {
  const SessionHolder holder;
  for (const Ask question : {tbem_check, tbem_estimate, tbem_fit}) {
    const Said none = ask(holder, question);
    EXPECT_EQ(none.outcome, TBEM_USAGE);
    EXPECT_TRUE(none.there);
    EXPECT_TRUE(has(none.error, "tbem_load comes first"));
    EXPECT_EQ(holder.error(), none.error);
    EXPECT_EQ(question(holder.session, nullptr, 0, nullptr), TBEM_MISUSE);
    EXPECT_TRUE(has(holder.error(), "`out` is null"));
    tbem_result* result = nullptr;
    EXPECT_EQ(question(holder.session, nullptr, 1, &result), TBEM_MISUSE);
    EXPECT_TRUE(has(holder.error(), "`options` is null"));
    const tbem_option nameless{nullptr, "1"};
    EXPECT_EQ(question(holder.session, &nameless, 1, &result), TBEM_MISUSE);
    EXPECT_TRUE(has(holder.error(), "the name of an option is null"));
    EXPECT_EQ(result, nullptr);
  }
}

TEST(Questions, OptionsAreHeededOrRefused) {
  const SessionHolder holder(kNetwork);
  const auto why = [&](Ask question, std::initializer_list<tbem_option> options) {
    const Said answer = ask(holder, question, options);
    EXPECT_EQ(answer.outcome, TBEM_USAGE);
    EXPECT_EQ(answer.lines, 0U);
    return answer.error;
  };
  EXPECT_TRUE(has(why(tbem_estimate, {{"thread", "2"}}), "did you mean `threads`?"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"xyzzy", "2"}}), "`estimate` has no option `xyzzy`"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"threads", nullptr}}), "needs a value"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"keep-gradients", "yes"}}), "has no value"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"threads", "many"}}), "whole number"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"input", "x=3,5"}, {"workspace-limit", "1GiB"}}), "of --explain workspace"));
  EXPECT_TRUE(has(why(tbem_fit, {}), "--max"));
  for (const char* name : {"json", "emit", "fix", "quiet", "color", "width", "time", "verbose", "print-after", "sarif"})
    EXPECT_TRUE(has(why(tbem_check, {{name, "1"}}), "the option `" + std::string(name) + "`"));
  for (const char* name : {"out", "tune"})
    EXPECT_TRUE(has(why(tbem_estimate, {{name, "on"}}), "the option `" + std::string(name) + "`"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"roofline", "cpu"}}), "what tbemc keeps of this machine"));
  EXPECT_TRUE(has(why(tbem_estimate, {{"on", "gpu"}, {"input", "x=3,5"}}), "gpu"));
  EXPECT_TRUE(has(why(tbem_estimate, {}), "no design"));
}

TEST(Questions, NetworkIsOfAProgram) {
  const SessionHolder holder("mlp(widths: [4, 2])", nullptr);
  EXPECT_EQ(ask(holder, tbem_estimate, {{"input", "x=5,3"}}).outcome, TBEM_DONE);
  EXPECT_TRUE(has(ask(holder, tbem_estimate, {{"network", "mlp(widths: [4])"}}).error, "load the expression itself"));
}

TEST(Questions, ErrorsOfTheProgramAreLines) {
  const SessionHolder holder("network net(x: tensor[n, c]) -> tensor[n, 2] {\n  return denze(x, 2)\n}\n");
  for (const Ask question : {tbem_check, tbem_estimate}) {
    const Said answer = ask(holder, question);
    EXPECT_EQ(answer.outcome, TBEM_PROGRAM_ERRORS);
    EXPECT_GE(answer.lines, 1U);
    EXPECT_TRUE(has(answer.json, "\"kind\":\"check\""));
    EXPECT_TRUE(has(answer.json, "net.tbem"));
    EXPECT_TRUE(has(answer.json, "denze"));
  }
  tbem_result* result = nullptr;
  tbem_step* step = nullptr;
  EXPECT_EQ(tbem_step_new(holder.session, nullptr, 0, &step, &result), TBEM_PROGRAM_ERRORS);
  EXPECT_EQ(step, nullptr);
  EXPECT_TRUE(has(tbem_result_json(result), "denze"));
  tbem_result_free(result);
}

TEST(Questions, AVerdictMayBeAgainst) {
  const SessionHolder holder(kTrained);
  const Said answer = ask(holder, tbem_estimate, {{"max", "100"}});
  EXPECT_EQ(answer.outcome, TBEM_VERDICT_AGAINST);
  EXPECT_TRUE(has(answer.json, "\"kind\":\"estimate\""));
}

TEST(Questions, AMissingFolderIsTheEnvironments) {
  tbem_settings settings{};
  settings.size = sizeof settings;
  settings.stdlib = "/nowhere/at/all";
  tbem_session* session = nullptr;
  ASSERT_EQ(tbem_session_new(&settings, &session), TBEM_DONE);
  ASSERT_EQ(tbem_load(session, "net.tbem", kNetwork.data(), kNetwork.size()), TBEM_DONE);
  tbem_result* result = nullptr;
  EXPECT_NE(tbem_check(session, nullptr, 0, &result), TBEM_DONE);
  tbem_result_free(result);
  tbem_session_free(session);
}

TEST(Steps, Refuse) {
  const SessionHolder holder(kTrained);
  const auto why = [&](std::initializer_list<tbem_option> options) {
    const StepHolder step(holder, options);
    EXPECT_EQ(step.made.outcome, TBEM_USAGE);
    EXPECT_EQ(step.step, nullptr);
    return step.made.error;
  };
  for (const char* name : {"save", "load", "names", "partial", "steps", "repeat", "profile", "tune"})
    EXPECT_TRUE(has(why({{name, "a.npz"}}), "the option `" + std::string(name) + "`"));
  EXPECT_TRUE(has(why({{"on", "nothing"}}), "nothing"));
  EXPECT_EQ(tbem_step_new(holder.session, nullptr, 0, nullptr, nullptr), TBEM_MISUSE);
  EXPECT_TRUE(has(holder.error(), "`out` is null"));
  tbem_step* step = nullptr;
  EXPECT_EQ(tbem_step_new(holder.session, nullptr, 2, &step, nullptr), TBEM_MISUSE);
  const SessionHolder bare(kNetwork);
  const StepHolder none(bare, {});
  EXPECT_EQ(none.made.outcome, TBEM_USAGE);
  EXPECT_TRUE(has(none.made.error, "there is no step to run"));
}

TEST(Steps, OwnCodeIsNotOpened) {
  // A file that can be read is a library until it is opened.
  const SessionHolder holder("operator twice(x: tensor[n]) -> (y: tensor[n])\n  native \"" + inSources("README.md") +
                             ":twice\"\n\n"
                             "network net(x: tensor[n]) -> tensor[n] { return twice(x) }\ndesign d of net { input x: [4] }\n");
  EXPECT_EQ(ask(holder, tbem_estimate).outcome, TBEM_DONE);
  const StepHolder step(holder, {});
  EXPECT_EQ(step.made.outcome, TBEM_USAGE);
  EXPECT_TRUE(has(step.made.error, "README.md, which this interface does not open"));
}

TEST(Steps, TensorsThatDoNotFit) {
  const SessionHolder holder(kTrained);
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error;
  tbem_step* const step = made.step;
  std::vector<float> numbers(64, 1);
  const auto why = [&](const char* name, auto& given, tbem_transfer transfer, tbem_outcome outcome = TBEM_USAGE) {
    EXPECT_EQ(tbem_step_set(step, name, &given.tensor, transfer), outcome);
    EXPECT_EQ(given.released, 0);
    return made.error();
  };
  Given<> good(numbers.data(), {3, 5});
  EXPECT_TRUE(has(why("input/y", good, TBEM_COPY), "the step has no tensor `input/y`: did you mean `input/x`?"));
  EXPECT_TRUE(has(why("nothing like it", good, TBEM_COPY), "it has input/x"));
  EXPECT_TRUE(has(why("output", good, TBEM_COPY), "result of the step"));
  EXPECT_TRUE(has(why("input/x", good, static_cast<tbem_transfer>(2), TBEM_MISUSE), "none of tbem_transfer"));
  EXPECT_EQ(tbem_step_set(step, nullptr, &good.tensor, TBEM_COPY), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_set(step, "input/x", nullptr, TBEM_COPY), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_set_versioned(step, "input/x", nullptr, TBEM_COPY), TBEM_MISUSE);

  Given<> shape(numbers.data(), {5, 3});
  EXPECT_TRUE(has(why("input/x", shape, TBEM_COPY), "the tensor is f32[5, 3], the step's is f32[3, 5]"));
  Given<> doubles(numbers.data(), {3, 5}, {kDLFloat, 64, 1});
  EXPECT_TRUE(has(why("input/x", doubles, TBEM_COPY), "the tensor is f64[3, 5]"));
  Given<> complex(numbers.data(), {3, 5}, {kDLComplex, 64, 1});
  EXPECT_TRUE(has(why("input/x", complex, TBEM_COPY), "DLPack's code 5, 64 bits"));
  Given<> lanes(numbers.data(), {3, 5}, {kDLFloat, 32, 4});
  EXPECT_TRUE(has(why("input/x", lanes, TBEM_COPY), "4 lanes"));
  Given<> negative(numbers.data(), {-3, 5});
  EXPECT_TRUE(has(why("input/x", negative, TBEM_COPY), "negative dimension -3"));
  Given<> shapeless(numbers.data(), {3, 5});
  shapeless.tensor.dl_tensor.shape = nullptr;
  EXPECT_TRUE(has(why("input/x", shapeless, TBEM_COPY), "no shape"));
  Given<> nowhere(nullptr, {3, 5});
  EXPECT_TRUE(has(why("input/x", nowhere, TBEM_COPY), "no memory"));
  Given<> elsewhere(numbers.data(), {3, 5});
  elsewhere.tensor.dl_tensor.device = {kDLCUDA, 0};
  EXPECT_TRUE(has(why("input/x", elsewhere, TBEM_COPY), "not on the CPU"));

  Given<> columns(numbers.data(), {3, 5}, {kDLFloat, 32, 1}, {1, 3});
  EXPECT_TRUE(has(why("input/x", columns, TBEM_SHARE), "a copy would be needed: it is not row-major"));
  Given<> askew(reinterpret_cast<char*>(numbers.data()) + 1, {3, 5});
  EXPECT_TRUE(has(why("input/x", askew, TBEM_SHARE), "a copy would be needed: it is not aligned"));
  Given<> weight(numbers.data(), {4, 5});
  EXPECT_TRUE(has(why("weight/dense.weight", weight, TBEM_SHARE), "a copy would be needed: the step keeps it"));
  Given<DLManagedTensorVersioned> future(numbers.data(), {3, 5});
  future.tensor.version = {2, 0};
  EXPECT_EQ(tbem_step_set_versioned(step, "input/x", &future.tensor, TBEM_COPY), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "version 2.0"));
  EXPECT_EQ(future.released, 0);

  DLManagedTensor* out = nullptr;
  EXPECT_EQ(tbem_step_get(step, "outputs", TBEM_COPY, &out), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "did you mean `output`?"));
  EXPECT_EQ(tbem_step_get(step, "output", static_cast<tbem_transfer>(7), &out), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_get(step, nullptr, TBEM_COPY, &out), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_get(step, "output", TBEM_COPY, nullptr), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_get_versioned(step, "output", TBEM_COPY, nullptr), TBEM_MISUSE);
  EXPECT_EQ(out, nullptr);
  tbem_tensor info{};
  EXPECT_EQ(tbem_step_tensor(step, 0, &info), TBEM_MISUSE);
  EXPECT_EQ(tbem_step_tensor(step, 0, nullptr), TBEM_MISUSE);
  info.size = sizeof info;
  EXPECT_EQ(tbem_step_tensor(step, 1000, &info), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "there is no tensor 1000"));
  EXPECT_EQ(tbem_step_run(step, 0, nullptr), TBEM_MISUSE);
  // None of it changed the step.
  EXPECT_EQ(tbem_step_run(step, 1, nullptr), TBEM_DONE);
  EXPECT_EQ(made.error(), "");
}

TEST(Steps, MemoryOfTheStepItselfIsNoInput) {
  // An output of the input's shape, shared back as the input, would be written while it is read.
  const SessionHolder holder(
      "network net(x: tensor[n, n]) -> tensor[n, n] { return matmul(x, x) }\ndesign d of net { input x: [4, 4] }\n");
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
  DLManagedTensor* output = nullptr;
  ASSERT_EQ(tbem_step_get(made.step, "output", TBEM_SHARE, &output), TBEM_DONE) << made.error();
  EXPECT_EQ(tbem_step_set(made.step, "input/x", output, TBEM_SHARE), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "a copy would be needed: it is memory of this step"));
  EXPECT_EQ(tbem_step_set(made.step, "input/x", output, TBEM_COPY), TBEM_DONE);
}

TEST(Steps, AReadOnlyInputIsGivenVersioned) {
  const SessionHolder holder(kTrained);
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE);
  std::vector<float> numbers(15, 1);
  Given<DLManagedTensorVersioned> given(numbers.data(), {3, 5});
  given.tensor.version = {1, 0};
  given.tensor.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  ASSERT_EQ(tbem_step_set_versioned(made.step, "input/x", &given.tensor, TBEM_SHARE), TBEM_DONE) << made.error();
  DLManagedTensor* plain = nullptr;
  EXPECT_EQ(tbem_step_get(made.step, "input/x", TBEM_SHARE, &plain), TBEM_USAGE);
  EXPECT_TRUE(has(made.error(), "it is read-only"));
  DLManagedTensorVersioned* versioned = nullptr;
  ASSERT_EQ(tbem_step_get_versioned(made.step, "input/x", TBEM_SHARE, &versioned), TBEM_DONE);
  EXPECT_EQ(versioned->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_EQ(versioned->dl_tensor.data, numbers.data());
  EXPECT_EQ(tbem_share_tensor(versioned, &plain), TBEM_USAGE);
  DLManagedTensorVersioned* again = nullptr;
  ASSERT_EQ(tbem_share_tensor_versioned(versioned, &again), TBEM_DONE);
  EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  versioned->deleter(versioned);
  EXPECT_EQ(again->dl_tensor.data, numbers.data());
  again->deleter(again);
  EXPECT_EQ(tbem_share_tensor_versioned(&given.tensor, &again), TBEM_USAGE);  // ours to give, not the caller's
  EXPECT_EQ(tbem_share_tensor(&given.tensor, &plain), TBEM_USAGE);
  EXPECT_EQ(tbem_share_tensor(nullptr, &plain), TBEM_MISUSE);
  EXPECT_EQ(tbem_share_tensor_versioned(nullptr, &again), TBEM_MISUSE);
  EXPECT_EQ(tbem_share_tensor(&given.tensor, nullptr), TBEM_MISUSE);
  EXPECT_EQ(tbem_share_tensor_versioned(&given.tensor, nullptr), TBEM_MISUSE);
}

TEST(Steps, AStepThatFailsSaysWhere) {
  const SessionHolder holder(
      "network net(x: tensor[n]) -> tensor[..s] {\n  weight table: tensor[7, 3] init ones\n"
      "  return gather(table, cast(x, to: i64), axis: 0)\n}\ndesign d of net { input x: [2] }\n");
  const StepHolder made(holder, {{"on", "ref"}});
  ASSERT_EQ(made.made.outcome, TBEM_DONE) << made.made.error << made.made.json;
  std::vector<float> outside{9, 1};
  Given<> given(outside.data(), {2});
  ASSERT_EQ(tbem_step_set(made.step, "input/x", &given.tensor, TBEM_COPY), TBEM_DONE) << made.error();
  tbem_result* result = nullptr;
  const tbem_outcome outcome = tbem_step_run(made.step, 1, &result);
  const Said answer = said(outcome, result);
  EXPECT_EQ(answer.outcome, TBEM_RUN_FAILED);
  EXPECT_TRUE(answer.there);
  EXPECT_TRUE(has(answer.error, "index 9 at position 0 is not in 0..6"));
  EXPECT_EQ(made.error(), answer.error);
}

TEST(Exceptions, BecomeOutcomes) {
  std::string error;
  EXPECT_EQ(embed::guarded(&error, []() -> tbem_outcome { throw std::bad_alloc(); }), TBEM_NO_MEMORY);
  EXPECT_EQ(error, "out of memory");
  EXPECT_EQ(embed::guarded(&error, []() -> tbem_outcome { TBEM_BUG("what {} is", 4); }), TBEM_INTERNAL);
  EXPECT_TRUE(has(error, "this is a bug in tbem, not in your program"));
  EXPECT_TRUE(has(error, "what 4 is"));
  EXPECT_EQ(embed::guarded(&error, []() -> tbem_outcome { throw std::runtime_error("so"); }), TBEM_INTERNAL);
  EXPECT_EQ(error, "a bug of ours: so");
  EXPECT_EQ(embed::guarded(&error, []() -> tbem_outcome { throw 3; }), TBEM_INTERNAL);
  EXPECT_EQ(embed::guarded(nullptr, []() -> tbem_outcome { throw 3; }), TBEM_INTERNAL);
  EXPECT_EQ(embed::guarded(&error, [] { return TBEM_DONE; }), TBEM_DONE);
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace tbem::test
