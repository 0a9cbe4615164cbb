#include "compiler/devices/EnginesFile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

namespace tbem::driver {
namespace {

EngineAnswers some() {
  EngineAnswers answers;
  answers.version = "9.19.0";
  cudnn::Convolution p;
  answers.lists[engineKey(cudnn::List::Heuristic, p)] = {{48, {2, 2, 6, 0}, 122065680, 17, 1}, {28, {}, 0, 0, 0}};
  p.order = cudnn::Order::Nhwc;
  answers.lists[engineKey(cudnn::List::Fallback, p)] = {};
  answers.lists[engineKey(cudnn::List::Heuristic, cudnn::Attention{})] = {{5, {}, 4096, 0, 0}};
  return answers;
}

TEST(EnginesFile, ReadsWhatWasWritten) {
  const EngineAnswers answers = some();
  const auto read = parseEngines(enginesText("asked", answers), "asked");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->version, answers.version);
  EXPECT_EQ(read->lists, answers.lists);
}

TEST(EnginesFile, AnswersOneByOne) {
  const EngineAnswers answers = some();
  auto opened = KeptEngines::open(enginesText("asked", answers), "asked");
  ASSERT_TRUE(opened.has_value());
  const KeptEngines kept = std::move(*opened);
  EXPECT_EQ(kept.version(), answers.version);
  for (const auto& [key, engines] : answers.lists) EXPECT_EQ(kept.find(key), engines) << key;
  EXPECT_FALSE(kept.find("h\tno problem").has_value());
  EXPECT_FALSE(KeptEngines().find("h").has_value());
  const std::string problem = cudnn::describe(cudnn::Convolution{});
  const auto broken = KeptEngines::open(sealEngines("asked\n9.19.0\nh\t" + problem + "\t1 2 3\n"), "asked");
  ASSERT_TRUE(broken.has_value());
  EXPECT_FALSE(broken->find("h\t" + problem).has_value());
}

TEST(EnginesFile, RefusesWhatIsDamagedOrOfAnotherQuestion) {
  const std::string text = enginesText("asked", some());
  EXPECT_FALSE(parseEngines(text, "asked something else").has_value());
  EXPECT_FALSE(parseEngines("", "asked").has_value());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_FALSE(parseEngines(damaged, "asked").has_value()) << i;
    EXPECT_FALSE(KeptEngines::open(damaged, "asked").has_value()) << i;
    EXPECT_FALSE(parseEngines(text.substr(0, i), "asked").has_value()) << i;
  }
}

TEST(EnginesFile, RefusesLinesThatAreNoAnswers) {
  const std::string problem = cudnn::describe(cudnn::Convolution{});
  for (const std::string& line :
       std::vector<std::string>{"x\t" + problem, "h\tno problem", "h\t" + problem + "\t1 2 3", "h\t" + problem + "\t1 -2 3 4",
                                "h\t" + problem + "\t1 2 3 4 5", fmt::format("h\t{0}\nh\t{0}", problem), "h\tattentive"}) {
    EXPECT_FALSE(parseEngines(sealEngines("asked\n9.19.0\n" + line + "\n"), "asked").has_value()) << line;
  }
  EXPECT_TRUE(parseEngines(sealEngines("asked\n9.19.0\nh\t" + problem + "\t1 2 3 4 5 6\n"), "asked").has_value());
}

}  // namespace
}  // namespace tbem::driver
