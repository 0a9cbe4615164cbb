#include "compiler/diagnostics/Repeats.h"

#include "compiler/diagnostics/tables/Sema.h"

#include <gtest/gtest.h>

namespace tbem {
namespace {

using Levels = std::vector<std::pair<std::string, std::string>>;

void reportAt(DiagnosticSink& sink, Loc begin, const std::string& name, const std::string& batch) {
  sink.report(diag::unknown_name, SrcRange{begin, begin + 1}, name).level("batch", batch);
}

TEST(Repeats, WhatSaysTheSameInTheSamePlaceIsKeptOnceWithAllLevels) {
  DiagnosticSink sink;
  reportAt(sink, 5, "a", "2");
  reportAt(sink, 5, "b", "2");
  reportAt(sink, 5, "a", "4");
  reportAt(sink, 9, "a", "4");
  reportAt(sink, 5, "a", "2");
  mergeRepeats(sink);
  ASSERT_EQ(sink.all().size(), 3U);
  EXPECT_EQ(sink.errorCount(), 3U);
  EXPECT_EQ(sink.all()[0].levels, (Levels{{"batch", "2"}}));
  EXPECT_EQ(sink.all()[0].also, (std::vector<Levels>{{{"batch", "4"}}}));
  EXPECT_TRUE(sink.all()[1].also.empty());
  EXPECT_EQ(sink.all()[2].range.begin, 9U);
}

TEST(Repeats, WhatStoodThereBeforeStays) {
  DiagnosticSink sink;
  reportAt(sink, 5, "a", "2");
  reportAt(sink, 5, "a", "2");
  mergeRepeats(sink, 2);
  EXPECT_EQ(sink.all().size(), 2U);
  reportAt(sink, 5, "a", "4");
  mergeRepeats(sink, 2);
  EXPECT_EQ(sink.all().size(), 2U);
  EXPECT_EQ(sink.all().front().also.size(), 1U);
}

}  // namespace
}  // namespace tbem
