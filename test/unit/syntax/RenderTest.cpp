// Diagnostics as text, JSON and changes.
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/support/Json.h"
#include "compiler/support/Unicode.h"
#include "compiler/support/Units.h"

#include <gtest/gtest.h>

namespace tbem::test {
namespace {

SrcRange at(const Source& source, const std::string& word) {
  const auto begin = source.base + static_cast<Loc>(source.text.find(word));
  return {begin, begin + static_cast<Loc>(word.size())};
}

TEST(Render, MarksStandUnderTheText) {
  SourceManager sources;
  const Source& source = sources.add("a.tbem", "x\n\tlet 网络 = foo\n");
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(source, "foo"), "foo")
      .label(at(source, "网络"), "for this")
      .note("a note")
      .fix(at(source, "foo"), "for_");
  EXPECT_EQ(renderText(sink.all()[0], sources, {}),
            "error[E0201]: unknown name `foo`\n"
            " --> a.tbem:2:11\n"
            "  |\n"
            "2 |     let 网络 = foo\n"
            "  |         ---- for this\n"
            "  |                ^^^\n"
            "  = note: a note\n"
            "  = help: write `for_` instead of `foo`\n\n");
}

TEST(Render, PlacesInTwoFilesAndLevels) {
  SourceManager sources;
  const Source& one = sources.add("one.tbem", "aaa\n");
  const Source& two = sources.add("two.tbem", "bbb\n");
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(one, "aaa"), "aaa").label(at(two, "bbb"), "there").level("depth", "11").level("batch", "4");
  EXPECT_EQ(renderText(sink.all()[0], sources, {}),
            "error[E0201]: unknown name `aaa`\n --> one.tbem:1:1\n  |\n1 | aaa\n  | ^^^\n ::: two.tbem:1:1\n  |\n1 | bbb\n  | "
            "--- there\n"
            "  = note: at depth = 11, batch = 4\n\n");
}

TEST(Render, LongLinesAreCutAroundTheMark) {
  SourceManager sources;
  const Source& source = sources.add("a", std::string(300, 'x') + "foo" + std::string(300, 'y'));
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(source, "foo"), "foo");
  const std::string text = renderText(sink.all()[0], sources, {false, 60});
  EXPECT_NE(text.find("xxxfooyyy"), std::string::npos);
  std::size_t mark = text.find("^^^");
  std::size_t shown = text.find("xxxfooyyy") + 3;
  EXPECT_EQ(mark - text.rfind('\n', mark), shown - text.rfind('\n', shown) - 2);  // the ellipsis is three bytes of one column
}

TEST(Render, Json) {
  SourceManager sources;
  const Source& source = sources.add("a.tbem", "let \"q\" = foo\n");
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(source, "foo"), "foo")
      .level("depth", "11")
      .level("depth", "13")
      .level("model", "vgg")
      .fix(at(source, "foo"), "\"\t", Applicability::Certain);
  EXPECT_EQ(
      renderJson(sink.all()[0], sources),
      R"({"kind":"check","schema":1,"code":"E0201","severity":"error","message":"unknown name `foo`","file":"a.tbem","line":1,"column":11,)"
      R"("end_line":1,"end_column":14,"levels":{"depth":[11,13],"model":"vgg"},"labels":[],"notes":[],)"
      R"("fix":{"applicability":"certain","edits":[{"file":"a.tbem","line":1,"column":11,"end_line":1,"end_column":14,"replacement":"\"\t"}]}})");
}

TEST(Render, OtherLevelsAreToldOnceEachAndTheFirstSix) {
  SourceManager sources;
  const Source& source = sources.add("a", "foo\n");
  DiagnosticSink sink;
  Diagnostic& d = sink.report(diag::unknown_name, at(source, "foo"), "foo").level("w", "1");
  d.alsoAt({{"w", "1"}});  // the same again
  for (const char* level : {"2", "3", "2", "4", "5", "6", "7", "8", "9"}) d.alsoAt({{"w", level}});
  const std::string text = renderText(d, sources, {});
  EXPECT_NE(text.find("at w = 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("also at w = 2; w = 3; w = 4; w = 5; w = 6; w = 7; and 2 more\n"), std::string::npos) << text;
  EXPECT_NE(renderJson(d, sources).find(R"("levels":{"w":1},"also":[{"w":2},{"w":3},)"), std::string::npos);
}

TEST(Render, FixesAreAppliedOnceAndTogether) {
  SourceManager sources;
  const Source& source = sources.add("a", "aa bb cc");
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(source, "aa"), "").fix(at(source, "aa"), "AAA", Applicability::Certain);
  sink.report(diag::unknown_name, at(source, "aa"), "").fix(at(source, "aa"), "no", Applicability::Certain);
  sink.report(diag::unknown_name, at(source, "bb"), "").fix(at(source, "bb"), "no", Applicability::Maybe);
  sink.report(diag::unknown_name, at(source, "cc"), "")
      .fix({at(source, "cc").begin, at(source, "cc").begin}, "(", Applicability::Certain)
      .fix({at(source, "cc").end, at(source, "cc").end}, ")", Applicability::Certain);
  std::size_t applied = 0;
  EXPECT_EQ(applyFixes(source, sink.all(), &applied), "AAA bb (cc)");
  EXPECT_EQ(applied, 2U);
}

TEST(Render, NothingInAProgramSteersTheTerminal) {
  SourceManager sources;
  const Source& source = sources.add("a\x1b[2J\n.tbem", "let \x1b]0;x\x07 \xC2\x9B = foo\r\n");
  DiagnosticSink sink;
  sink.report(diag::unknown_name, at(source, "foo"), "a\u202Eb\n").note("\x1b[31mred\nsecond");
  EXPECT_EQ(renderText(sink.all()[0], sources, {}),
            "error[E0201]: unknown name `a\\u{202e}b\\n`\n"
            " --> a\\x1b[2J\\n.tbem:1:16\n"
            "  |\n"
            "1 | let \\x1b]0;x\\x07 \\u{9b} = foo\n"
            "  |                           ^^^\n"
            "  = note: \\x1b[31mred\n"
            "          second\n\n");
}

TEST(Unicode, ControlsAndForeignBytesAreEscaped) {
  EXPECT_EQ(printable("plain\n\ttext \u00e9 \u2192"), "plain\n\ttext \u00e9 \u2192");
  EXPECT_EQ(printableLine("a\n\r\tb"), "a\\n\\r\\tb");
  EXPECT_EQ(printable("a\r"), "a\\r");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  for (const char* mark : {"\u202a", "\u202e", "\u2066", "\u2069"}) EXPECT_EQ(printable(mark).substr(0, 3), "\\u{") << mark;
  EXPECT_EQ(printable("\u200e\u2065"), "\u200e\u2065");
  EXPECT_EQ(printable("\xff\xC3(\xED\xA0\x80"), "\\xff\\xc3(\\xed\\xa0\\x80");
  EXPECT_EQ(firstNotUtf8("\u00e9\u2192"), std::string_view::npos);
  EXPECT_EQ(firstNotUtf8("\u00e9\xC3"), 2U);
  EXPECT_EQ(printableJson("{\"a\": \"\u009b\u202e\xff\u00e9\"}"), "{\"a\": \"\\u009b\\u202e\uFFFD\u00e9\"}");
}

TEST(Json, Escapes) {
  EXPECT_EQ(jsonString("a\"\\\n\x01\xFF"
                       "é\u009b\u202e"),
            "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD"
            "é\\u009b\\u202e\"");
  JsonWriter w;
  w.begin().field("a", 1).key("b").beginList().value(0.5).value(true).null().begin().end().endList().field("c", "d").end();
  EXPECT_EQ(w.str(), R"({"a":1,"b":[0.5,true,null,{}],"c":"d"})");
}

TEST(Json, SaysWhatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  JsonWriter w;
  w.begin().field("a", infinite).key("b").beginList().value(-infinite).endList().field("c", std::nan("")).field("d", 2.5).end();
  EXPECT_EQ(w.str(), R"({"a":null,"a_not_finite":"inf","b":[null],"c":null,"c_not_finite":"nan","d":2.5})");
}

TEST(Units, FactorsAreExact) {
  EXPECT_EQ(findUnit("GiB")->factor, Rational::of(1073741824));
  EXPECT_EQ(findUnit("GB")->factor, Rational::of(1000000000));
  EXPECT_EQ(findUnit("us")->factor, (Rational{1, 1000000}));
  EXPECT_EQ(findUnit("Wh")->factor, Rational::of(3600));
  EXPECT_EQ(findUnit("min")->dimension, Dimension::Seconds);
  EXPECT_EQ(findUnit("gib"), nullptr);
}

TEST(Nearest, TwoLettersThatChangedPlaces) {
  EXPECT_EQ(nearest("lte", {"let", "var"}), "let");
  EXPECT_EQ(nearest("factr", {"factor", "full"}), "factor");
  EXPECT_EQ(nearest("xyz", {"factor", "full"}), "");
}

TEST(Nearest, FewLettersAreNearOnlyBySlips) {
  struct Slip {
    const char *word, *candidate;
  };
  for (const auto& [word, candidate] : std::vector<Slip>{{"lte", "let"},
                                                         {"mpa", "map"},
                                                         {"gleu", "gelu"},
                                                         {"gelo", "gelu"},
                                                         {"tsk", "task"},
                                                         {"rel", "relu"},
                                                         {"padd", "pad"},
                                                         {"modl", "model"},
                                                         {"Net", "net"},
                                                         {"L4", "l4"},
                                                         {"netw", "net"},
                                                         {"hiden", "hidden"},
                                                         {"sofmax", "softmax"}})
    EXPECT_EQ(nearest(word, {candidate}), candidate) << word;
  for (const auto& [word, candidate] : std::vector<Slip>{{"k4", "l4"},
                                                         {"k4", "k4x"},
                                                         {"net", "neg"},
                                                         {"nat", "net"},
                                                         {"net", "ne"},
                                                         {"k", "K4"},
                                                         {"h", "pi"},
                                                         {"in", "inf"},
                                                         {"ot", "to"},
                                                         {"mask", "task"},
                                                         {"sin", "pi"},
                                                         {"cat", "cast2"},
                                                         {"mlp", "mul"}})
    EXPECT_EQ(nearest(word, {candidate}), "") << word;
  EXPECT_EQ(nearest("gela", {"cela", "gelu"}), "gelu") << "what is no slip does not hide what is one";
}

}  // namespace
}  // namespace tbem::test
