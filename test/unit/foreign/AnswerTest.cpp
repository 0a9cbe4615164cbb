// What programs that measure rows may answer, and what is said of an answer that is none.
#include "compiler/foreign/Answer.h"

#include <gtest/gtest.h>

namespace tbem::foreign {
namespace {

runtime::Measurement read(const std::string& text) {
  auto value = readAnswer(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error());
  return value.value_or(runtime::Measurement{});
}

std::string wrong(const std::string& text) {
  const auto value = readAnswer(text);
  EXPECT_FALSE(value.has_value()) << text;
  return value ? "" : value.error();
}

TEST(Answer, NumbersAreInBaseUnits) {
  const runtime::Measurement value = read(R"({"memory_peak": 4096, "latency": 0.25, "energy": 2})"
                                          "\n");
  EXPECT_EQ(value.status, runtime::Status::Ok);
  EXPECT_EQ(value.memoryPeak, 4096u);
  EXPECT_EQ(value.latencyMedian, 0.25);
  EXPECT_EQ(value.energy, 2);
  EXPECT_FALSE(value.memoryBaseline.has_value());
  EXPECT_FALSE(value.latencyP95.has_value());
}

TEST(Answer, TextsHaveUnits) {
  const runtime::Measurement value = read(R"({"memory_peak": "1.5 GiB", "latency": "3 ms", "device_peak": "2 MB"})");
  EXPECT_EQ(value.memoryPeak, 1610612736u);
  EXPECT_DOUBLE_EQ(*value.latencyMedian, 0.003);
  EXPECT_EQ(value.devicePeak, 2000000u);
}

// Type 7 of Hyndman and Fan: numpy.quantile([1, 2, 3, 4], [0.05, 0.5, 0.95]) gives 1.15, 2.5 and 3.85.
TEST(Answer, SamplesGiveQuantiles) {
  const runtime::Measurement value = read(R"({"samples": [3, 1, 4, 2]})");
  EXPECT_DOUBLE_EQ(*value.latencyP05, 1.15);
  EXPECT_DOUBLE_EQ(*value.latencyMedian, 2.5);
  EXPECT_DOUBLE_EQ(*value.latencyP95, 3.85);
  EXPECT_EQ(value.samples, (std::vector<double>{3, 1, 4, 2}));
}

TEST(Answer, ARowMayHaveFailed) {
  const runtime::Measurement value = read(R"({"status": "oom", "reason": "the card is full", "memory_peak": null})");
  EXPECT_EQ(value.status, runtime::Status::OutOfMemory);
  EXPECT_EQ(value.reason, "the card is full");
  EXPECT_EQ(read(R"({"status": "failed"})").reason, "the program gave no reason");
}

TEST(Answer, WhatIsWrongIsNamed) {
  EXPECT_EQ(wrong(""), "it is empty");
  EXPECT_EQ(wrong("hello\n{}"), "it is not one JSON object of metrics: hello\n{}");
  EXPECT_EQ(wrong("{} {}"), "it is not one JSON object of metrics: {} {}");
  EXPECT_EQ(wrong("[1]"), "it is not one JSON object of metrics: [1]");
  EXPECT_EQ(wrong("{}"), "it has no metric that is a number");
  EXPECT_EQ(wrong(R"({"versions": "1"})"), "it has no metric that is a number");
  EXPECT_NE(wrong(R"({"memroy_peak": 3})").find("no metric is called `memroy_peak`; the nearest are `memory_peak`"),
            std::string::npos);
  EXPECT_EQ(wrong(R"({"memory_peak": "3 ms"})"),
            "`memory_peak` is a number of bytes, or one with its unit (\"1.5 GiB\"), found `3 ms`");
  EXPECT_EQ(wrong(R"({"memory_peak": -1})"), "`memory_peak` is a number of bytes, or one with its unit (\"1.5 GiB\"), found -1");
  EXPECT_EQ(wrong(R"({"memory_peak": 1e30})"),
            "`memory_peak` is a number of bytes, or one with its unit (\"1.5 GiB\"), found 1e+30");
  EXPECT_EQ(wrong(R"({"latency": true})"), "`latency` is a number of seconds, or one with its unit (\"3 ms\"), found true");
  EXPECT_EQ(wrong(R"({"samples": [1, -1]})"), "`samples` is a list of seconds, one a step");
  EXPECT_EQ(wrong(R"({"samples": [1], "latency": 1})"),
            "`latency` stands beside `samples`, from which it is computed: give one of the two");
  EXPECT_EQ(wrong(R"({"status": "fine", "latency": 1})"), "`status` is ok, oom, failed, timeout or skipped, found \"fine\"");
  EXPECT_EQ(wrong(R"({"latency": 1, "reason": "slow"})"), "`reason` is of a row that is not `ok`");
}

}  // namespace
}  // namespace tbem::foreign
