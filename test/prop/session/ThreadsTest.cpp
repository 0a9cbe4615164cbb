// Sessions do not meet: two in two threads that check the examples, and edits of them, at once say what each says alone. Built
// with the preset `tsan` it also shows that they share nothing that changes.
#include "Fresh.h"
#include "compiler/session/CompileSession.h"
#include "test/prop/uses/Programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace tbem::test {
namespace {

/// What a session of its own says of the programs, one after the other, and of some edits of each.
std::vector<std::string> answers(const std::vector<std::string>& paths) {
  constexpr int kEdits = 6;
  Numbers numbers(seed(11));
  session::CompileSession session;
  std::vector<std::string> said;
  for (const std::string& path : paths) {
    const std::string program = readAll(path);
    said.push_back(allOf(session.check(path, program)));
    for (int i = 0; i < kEdits; ++i) {
      const std::string edited = i % 2 == 0 ? editOneToken(program, numbers).text : editAlike(program, numbers);
      said.push_back(allOf(session.check(path, edited)));
    }
  }
  return said;
}

/// Both at once and then each alone.
void expectNoMeeting(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  std::vector<std::string> ofFirst, ofSecond;
  {
    const std::jthread one([&] { ofFirst = answers(first); });
    const std::jthread two([&] { ofSecond = answers(second); });
  }
  EXPECT_EQ(ofFirst, answers(first));
  EXPECT_EQ(ofSecond, answers(second));
  // Neither is silent throughout: edits have something to be told of.
  for (const std::vector<std::string>& said : {ofFirst, ofSecond})
    EXPECT_GT(std::ranges::count_if(said, [](const std::string& text) { return !text.empty(); }), 10);
}

TEST(Threads, SessionsOfTheSamePrograms) {
  const std::vector<std::string> examples = programsIn({"examples"});
  ASSERT_GE(examples.size(), 6U);
  expectNoMeeting(examples, examples);
}

TEST(Threads, SessionsOfOtherPrograms) {
  std::vector<std::string> examples = programsIn({"examples"});
  std::vector<std::string> others{inSources("test/lit/where_process.tbem"), inSources("test/lit/sofl.tbem")};
  std::ranges::reverse(examples);
  others.insert(others.end(), examples.begin(), examples.end());
  std::ranges::reverse(examples);
  expectNoMeeting(examples, others);
}

}  // namespace
}  // namespace tbem::test
