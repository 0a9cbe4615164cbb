// Our own mistakes: what is thrown says where it is, and carries what was compiled.
#include "compiler/diagnostics/Session.h"
#include "compiler/support/Bug.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <string_view>
#include <thread>

namespace tbem::test {
namespace {

/// The bug that `work` meets.
template <class Work>
Bug bugIn(Work&& work) {
  try {
    work();
  } catch (const Bug& bug) {
    return bug;
  }
  return Bug("nowhere", 0, "none", "");
}

TEST(Bugs, NameThePlaceInOurSource) {
  const Bug bug = bugIn([] { TBEM_BUG("{} is not {}", 1, 2); });
  EXPECT_TRUE(std::regex_match(bug.what(), std::regex(".*BugTest.cpp:[0-9]+: 1 is not 2"))) << bug.what();
  EXPECT_EQ(bug.program(), "");
  EXPECT_TRUE(std::string_view(bugIn([] { TBEM_CHECK(1 > 2); }).what()).ends_with(": `1 > 2` does not hold"));
}

TEST(Bugs, CarryTheProgramOfTheirThread) {
  Session outer, inner;
  outer.sources.add("outer.tbem", "network a");
  inner.sources.add("inner.tbem", "network b");
  inner.sources.add("<std>/nn.tbem", "operator c");
  const auto program = [] { return bugIn([] { TBEM_BUG("x"); }).program(); };
  {
    const BugContext around(programOf, &outer);
    {
      const BugContext within(programOf, &inner);
      EXPECT_EQ(program(), "// ---- inner.tbem\nnetwork b\n");
      std::string elsewhere = "not asked";
      std::jthread([&] { elsewhere = program(); }).join();
      EXPECT_EQ(elsewhere, "");
    }
    EXPECT_EQ(program(), "// ---- outer.tbem\nnetwork a\n");
  }
  EXPECT_EQ(program(), "");
}

}  // namespace
}  // namespace tbem::test
