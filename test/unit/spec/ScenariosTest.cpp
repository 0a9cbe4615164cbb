// Functional scenario forms of small processes, and what is proved of them.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Specification.h"
#include "test/unit/spec/CheckedText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tbem::test {
namespace {

using spec::Finding;
using spec::Verdict;

struct Checked : CheckedText {
  using CheckedText::CheckedText;
  bool reports(Diag kind) const {
    return std::any_of(session.sink.all().begin(), session.sink.all().end(), [&](const Diagnostic& d) { return d.kind == kind; });
  }
  std::string form() const {
    std::string text;
    for (const spec::Scenario& one : process->scenarios) text += one.guardText + " && " + one.definitionText + "\n";
    return text;
  }
  Verdict verdict(Finding::Kind kind) const {
    for (const Finding& one : process->findings) {
      if (one.kind == kind && one.verdict != Verdict::Proved) return one.verdict;
    }
    return Verdict::Proved;
  }
};

TEST(Scenarios, OfListing1) {  // TBEM's condition, with its parentheses
  Checked checked(R"(
process ShapeVerify(W1, H1, D1: int, F, K, S, P: int, W2, H2, D2: int) y: bool
pre  S >= 1
post (W2 = (W1 - F + 2 * P) / S + 1 and H2 = (H1 - F + 2 * P) / S + 1 and D2 = K and y = true)
  or ((W2 <> (W1 - F + 2 * P) / S + 1 or H2 <> (H1 - F + 2 * P) / S + 1 or D2 <> K) and y = false)
end_process
)");
  ASSERT_TRUE(checked.process) << checked.told();
  EXPECT_EQ(checked.form(),
            "W2 = (W1 - F + 2 * P) / S + 1 and H2 = (H1 - F + 2 * P) / S + 1 and D2 = K && y = true\n"
            "(W2 <> (W1 - F + 2 * P) / S + 1 or H2 <> (H1 - F + 2 * P) / S + 1 or D2 <> K) && y = false\n");
  EXPECT_FALSE(checked.process->refuted()) << checked.told();
  EXPECT_EQ(checked.verdict(Finding::Kind::Exclusive), Verdict::Proved);
  EXPECT_EQ(checked.verdict(Finding::Kind::Complete), Verdict::Proved);
  EXPECT_EQ(checked.verdict(Finding::Kind::Satisfiable), Verdict::Proved);
  EXPECT_TRUE(checked.reports(diag::division_exact)) << checked.told();  // (224 - 7 + 6) / 2 is no whole number
}

TEST(Scenarios, LostParenthesesAreToldAndMended) {
  Checked checked(R"(
process P(a, b: int) y: bool
post (a = 1 and b = 1 and y = true) or (a <> 1 or b <> 1 and y = false)
end_process
)");
  ASSERT_TRUE(checked.process);
  EXPECT_TRUE(checked.process->parenthesesLost);
  ASSERT_TRUE(checked.reports(diag::alternative_says_nothing));
  const std::string mended = applyFixes(*checked.session.sources.find(1), checked.session.sink.all(), nullptr);
  Checked again(mended);
  ASSERT_TRUE(again.process) << again.told();
  EXPECT_FALSE(again.process->parenthesesLost) << mended;
  EXPECT_FALSE(again.process->refuted()) << again.told();
}

TEST(Scenarios, OfConditionsAndImplications) {
  Checked checked(R"(
process P(a: int) y: int
post if a > 0 then y = a else y = 0 - a
end_process
)");
  ASSERT_TRUE(checked.process) << checked.told();
  EXPECT_EQ(checked.form(), "a > 0 && y = a\nnot (a > 0) && y = 0 - a\n");
  Checked inside(R"(
process P(a: int) y: int
post y = 1 + (if a > 0 then a else 0 - a)
end_process
)");
  ASSERT_TRUE(inside.process) << inside.told();
  EXPECT_EQ(inside.process->scenarios.size(), 2U);
  EXPECT_FALSE(inside.process->refuted());
  Checked implied(R"(
process P(a: int) y: int
post (a > 0 => y = 1) and (not a > 0 => y = 2)
end_process
)");
  ASSERT_TRUE(implied.process) << implied.told();
  EXPECT_EQ(implied.process->scenarios.size(), 2U) << implied.form();  // of four products, two that nothing meets
  EXPECT_EQ(implied.process->unreachable, 2U);
  EXPECT_FALSE(implied.process->refuted()) << implied.told();
}

TEST(Scenarios, QuantifiersAreWrittenOut) {
  Checked checked(R"(
process Divides(n: int in 1 ..= 30, s: int) y: bool
post (forall[i: {2, 3}] | n mod i = 0) and y = true or (exists[i: {2, 3}] | n mod i <> 0) and y = false
end_process
)");
  ASSERT_TRUE(checked.process) << checked.told();
  EXPECT_FALSE(checked.process->refuted()) << checked.told();
  Checked open(R"(
process Small(n: int in 1 ..= 12) y: bool
post (exists[i: 2 .. n] | n mod i = 0) and y = false or (forall[i: 2 .. n] | n mod i <> 0) and y = true
end_process
)");
  ASSERT_TRUE(open.process) << open.told();
  EXPECT_EQ(open.process->scenarios.size(), 2U);
  EXPECT_FALSE(open.process->refuted()) << open.told();
}

TEST(Scenarios, PortsAndExternalVariables) {
  Checked checked(R"(
process Take(amount: int | all: bool) given: int
ext  wr stock: int
pre  stock >= 0 and (bound(amount) => amount >= 0)
post if bound(all) then given = ~stock and stock = 0
     else given = min(amount, ~stock) and stock = ~stock - given
end_process
)");
  ASSERT_TRUE(checked.process) << checked.told();
  EXPECT_EQ(checked.process->scenarios.size(), 2U);
  EXPECT_FALSE(checked.process->refuted()) << checked.told();
  Checked both(R"(
process Either(a: int | b: int) y: int
post (bound(a) and y = a) or (bound(b) and y = b)
end_process
)");
  ASSERT_TRUE(both.process) << both.told();
  EXPECT_FALSE(both.process->refuted()) << both.told();  // ports exclude each other, and one of them has data
}

TEST(Scenarios, RemainderHasTheSignOfItsLeftSide) {
  Checked checked(R"(
process P(a: int in -9 ..= 9, b: int in {-4, -3, 3, 4}) y: int
pre  true
post (a rem b = 0 - ((0 - a) rem b) and y = 1) or (a rem b <> 0 - ((0 - a) rem b) and y = a rem b)
end_process
)");
  ASSERT_TRUE(checked.process) << checked.told();
  // (-a) rem b = -(a rem b) always (truncation), so that the second scenario is met by nothing.
  EXPECT_EQ(checked.process->scenarios.size(), 1U) << checked.form();
  EXPECT_FALSE(checked.process->refuted());
}

TEST(Scenarios, FaultsComeWithValues) {
  const auto values = [](const Checked& checked, Finding::Kind kind) {
    for (const Finding& one : checked.process->findings) {
      if (one.kind == kind && one.verdict == Verdict::Refuted) return checked.process->model.describe(one.proof.values);
    }
    return std::string();
  };
  Checked gap("process P(a: int) y: int\npost (a > 0 and y = 1) or (a < 0 and y = 2)\nend_process\n");
  EXPECT_EQ(values(gap, Finding::Kind::Complete), "a = 0");
  EXPECT_TRUE(gap.reports(diag::scenarios_incomplete));
  Checked overlap("process P(a: int) y: int\npost (a >= 3 and y = 1) or (a <= 3 and y = 2)\nend_process\n");
  EXPECT_EQ(values(overlap, Finding::Kind::Exclusive), "a = 3");
  EXPECT_TRUE(overlap.reports(diag::scenarios_overlap));
  Checked zero("process P(a, b: int) y: int\npre b >= 0\npost y = a div b\nend_process\n");
  EXPECT_EQ(values(zero, Finding::Kind::Defined).substr(0, 5), "b = 0");
  EXPECT_TRUE(zero.reports(diag::condition_undefined));
  Checked never("process P(a: int) y: int\npost 2 * y = 2 * a + 1\nend_process\n");
  EXPECT_TRUE(never.reports(diag::definition_unsatisfiable));
  Checked nothing("process P(a: int) y: int\npre a * a = 2\npost y = a\nend_process\n");
  EXPECT_TRUE(nothing.reports(diag::pre_unsatisfiable)) << nothing.told();
}

TEST(Scenarios, MistakesAreTold) {
  EXPECT_TRUE(Checked("process P(a: string) y: int\npost y = 1\nend_process\n").reports(diag::process_type));
  EXPECT_TRUE(Checked("process P(a: int) y: int\npost y = ~a\nend_process\n").reports(diag::no_old_value));
  EXPECT_TRUE(Checked("process P(a: int) y: int\npost y = a + 1 and 3\nend_process\n").reports(diag::wrong_kind));
  EXPECT_TRUE(Checked("process P(a: int) y: int\npre y > a\npost y = a\nend_process\n").reports(diag::output_in_pre));
  EXPECT_TRUE(Checked("process P(a: int) y: int\npost y = a and (exists[i: 0 .. a] | i = 1)\nend_process\n")
                  .reports(diag::quantifier_not_finite));
}

}  // namespace
}  // namespace tbem::test
