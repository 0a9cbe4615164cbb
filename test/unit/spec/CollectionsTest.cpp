// Sequences and sets: laws that hold of all of them, and claims about them that do not.
#include "compiler/diagnostics/tables/Specification.h"
#include "test/unit/spec/CheckedText.h"

#include <gtest/gtest.h>

#include <string>

namespace tbem::test {
namespace {

using spec::Finding;
using spec::Verdict;

/// A process with these inputs whose only scenario applies where `claim` holds: it is complete where the claim always does.
struct Claimed : CheckedText {
  Claimed(const std::string& inputs, const std::string& pre, const std::string& claim)
      : CheckedText("process P(" + inputs + ") y: bool\npre " + pre + "\npost (" + claim + ") and y = true\nend_process\n") {}
  const Finding* find(Finding::Kind kind) const {
    for (const Finding& one : process->findings) {
      if (one.kind == kind) return &one;
    }
    return nullptr;
  }
  std::string values() const {
    const Finding* found = find(Finding::Kind::Complete);
    return found != nullptr ? process->model.describe(found->proof.values) : "";
  }
};

struct Law {
  const char* claim;
  bool holds;
};

TEST(Collections, LawsOfSequences) {
  const Law laws[] = {
      {"len(conc(s, t)) = len(s) + len(t)", true},
      {"conc(conc(s, t), s) = conc(s, conc(t, s))", true},
      {"conc(s, t) = conc(t, s)", false},
      {"s = [] or s = conc([hd(s)], tl(s))", true},
      {"s = [] or hd(s) inset elems(s)", true},
      {"card(elems(s)) <= len(s)", true},
      {"card(elems(s)) = len(s)", false},
      {"elems(conc(s, t)) = union(elems(s), elems(t))", true},
      {"forall[i: inds(s)] | s(i) = s[i - 1]", true},
      {"forall[i: inds(s)] | s(i) inset elems(s)", true},
      {"exists[i: inds(s)] | s(i) = 3", false},
      {"sum(conc(s, t)) = sum(s) + sum(t)", true},
      {"s = t => elems(s) = elems(t)", true},
      {"elems(s) = elems(t) => s = t", false},
      {"card(inds(s)) = len(s)", true},
  };
  for (const Law& law : laws) {
    const Claimed claimed("s: seq of int, t: seq of int", "len(s) <= 2 and len(t) <= 2", law.claim);
    ASSERT_TRUE(claimed.process) << law.claim << claimed.told();
    const Finding* found = claimed.find(Finding::Kind::Complete);
    ASSERT_NE(found, nullptr) << law.claim << claimed.told();
    EXPECT_EQ(found->verdict, law.holds ? Verdict::Proved : Verdict::Refuted) << law.claim << claimed.told();
  }
}

TEST(Collections, LawsOfSets) {
  const Law laws[] = {
      {"union(a, b) = union(b, a)", true},
      {"inter(a, union(b, c)) = union(inter(a, b), inter(a, c))", true},
      {"diff(a, b) = diff(b, a)", false},
      {"card(union(a, b)) + card(inter(a, b)) = card(a) + card(b)", true},
      {"diff(a, b) = a or exists[x: a] | x inset b", true},
      {"forall[x: diff(a, b)] | x notin b", true},
      {"card(a) > 0", false},
      {"a = {} <=> card(a) = 0", true},
  };
  for (const char* type : {"set of {<p>, <q>, <r>}", "set of int in 1 ..= 3", "set of int"}) {
    for (const Law& law : laws) {
      const std::string inputs = std::string("a, b, c: ") + type;
      const Claimed claimed(inputs, "card(a) <= 1 and card(b) <= 1 and card(c) <= 1", law.claim);
      ASSERT_TRUE(claimed.process) << law.claim << claimed.told();
      const Finding* found = claimed.find(Finding::Kind::Complete);
      ASSERT_NE(found, nullptr) << law.claim << claimed.told();
      EXPECT_EQ(found->verdict, law.holds ? Verdict::Proved : Verdict::Refuted) << type << law.claim << claimed.told();
    }
  }
}

TEST(Collections, ValuesThatRefute) {
  const Claimed sequence("s: seq of nat", "len(s) <= 3", "len(s) <> 2 or s(1) <> s(2)");
  ASSERT_TRUE(sequence.process) << sequence.told();
  EXPECT_EQ(sequence.values(), "s = [1, 1]");
  const Claimed set("a: set of {<p>, <q>}", "true", "<p> notin a");
  ASSERT_TRUE(set.process) << set.told();
  EXPECT_EQ(set.values().substr(0, 8), "a = {<p>");
}

/// What is not there is not read: found where it may be, and nothing told of what a condition guards.
TEST(Collections, ElementsThatAreNotThere) {
  const Claimed open("s: seq of int", "len(s) <= 3", "s(2) > 0 or s(2) <= 0");
  ASSERT_TRUE(open.process) << open.told();
  EXPECT_EQ(open.find(Finding::Kind::Complete), nullptr);
  EXPECT_NE(open.told().find("E0468"), std::string::npos) << open.told();
  const Claimed guarded("s: seq of int", "len(s) <= 3", "len(s) < 2 or s(2) > 0 or s(2) <= 0");
  ASSERT_TRUE(guarded.process) << guarded.told();
  EXPECT_EQ(guarded.find(Finding::Kind::Complete)->verdict, Verdict::Proved) << guarded.told();
}

/// Without a bound on the length nothing is proved of all lengths; what is refuted is; what speaks of none is proved.
TEST(Collections, LengthsWithoutABound) {
  const Claimed open("s: seq of int", "true", "len(s) < 4");
  ASSERT_TRUE(open.process) << open.told();
  EXPECT_EQ(open.find(Finding::Kind::Complete)->verdict, Verdict::Residual) << open.told();
  const Claimed refuted("s: seq of int", "true", "len(s) < 3");
  EXPECT_EQ(refuted.find(Finding::Kind::Complete)->verdict, Verdict::Refuted) << refuted.told();
  const Claimed apart("s: seq of int, n: int", "true", "n > 2 or n <= 2");
  EXPECT_EQ(apart.find(Finding::Kind::Complete)->verdict, Verdict::Proved) << apart.told();
  const Claimed beyond("s: seq of int", "len(s) <= 100", "len(s) <= 100");
  EXPECT_EQ(beyond.find(Finding::Kind::Complete)->verdict, Verdict::Residual) << beyond.told();
  // A bound counts only where nothing is read before it.
  const Claimed late("s: seq of int", "sum(s) > 0 and len(s) <= 2", "len(s) <= 2");
  EXPECT_EQ(late.find(Finding::Kind::Complete)->verdict, Verdict::Residual) << late.told();
}

TEST(Collections, OfSequencesAndSets) {
  struct Case {
    std::string inputs, pre, claim;
    Verdict verdict;
  };
  const std::string rows = "s: seq of seq of int", two = "len(s) = 2 and forall[x: elems(s)] | len(x) <= 2";
  const std::string sets = "t: set of set of {<a>, <b>}", few = "card(t) <= 4";
  const Case cases[] = {
      {rows, two, "hd(s) = s(1)", Verdict::Proved},
      {rows, two, "tl(s)(1) = s(2)", Verdict::Proved},
      {rows, two, "len(conc(s(1), s(2))) <= 4", Verdict::Proved},
      {rows, two, "len(conc(s(1), s(2))) <= 3", Verdict::Refuted},
      {rows, two, "conc(s, s)(3) = s(1) and len(conc(s, s)) = 4", Verdict::Proved},
      {rows, two, "s(1) inset elems(s)", Verdict::Proved},
      {rows, two, "s(1) = s(2) or card(elems(s)) = 2", Verdict::Proved},
      {rows, two, "card(elems(s)) = 2", Verdict::Refuted},
      {rows, two, "s(1) <> s(2) or len(s(1)) = len(s(2))", Verdict::Proved},
      {rows, two, "forall[i: inds(s)] | len(s(i)) <= 2", Verdict::Proved},
      {rows, "len(s) <= 3 and forall[i: inds(s)] | len(s(i)) <= 1", "forall[x: elems(s)] | len(x) < 2", Verdict::Proved},
      {rows, "len(s) <= 3", "forall[x: elems(s)] | len(x) < 9", Verdict::Residual},
      {sets, few, "{<a>} notin t or {<b>} notin t or card(t) >= 2", Verdict::Proved},
      {sets, few, "card(t) <= 3", Verdict::Refuted},
      {sets, few, "forall[x: t] | card(x) <= 2", Verdict::Proved},
      {sets, few, "forall[x: t] | card(x) <= 1", Verdict::Refuted},
      {"t: set of seq of bool", "card(t) <= 2 and forall[x: t] | len(x) <= 1", "[true] notin t or card(t) >= 1", Verdict::Proved},
  };
  for (const Case& one : cases) {
    const Claimed claimed(one.inputs, one.pre, one.claim);
    const Finding* found = claimed.find(Finding::Kind::Complete);
    ASSERT_NE(found, nullptr) << one.claim << claimed.told();
    EXPECT_EQ(found->verdict, one.verdict) << one.claim << claimed.told();
  }
}

}  // namespace
}  // namespace tbem::test
