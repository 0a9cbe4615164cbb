// Trees of small programs, written by hand from the rules of the language.
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Dump.h"

#include <gtest/gtest.h>

#include <set>

namespace tbem::test {
namespace {

struct Parsed {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<ast::File> file;
  explicit Parsed(const std::string& text) { file = syntax::parse(sources.add("t", text), sink); }
};

std::string tree(const std::string& text) {
  const Parsed parsed(text);
  std::string out = syntax::dump(*parsed.file);
  for (const Diagnostic& each : parsed.sink.all()) out += "! " + each.message + "\n";
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

TEST(Expressions, Precedence) {
  EXPECT_EQ(tree("1 + 2 * 3"), "(+ 1 (* 2 3))");
  EXPECT_EQ(tree("8 - 4 - 2"), "(- (- 8 4) 2)");
  EXPECT_EQ(tree("-2 ** 2"), "(neg (** 2 2))");
  EXPECT_EQ(tree("2 ** 3 ** 2"), "(** 2 (** 3 2))");
  EXPECT_EQ(tree("2 ** -1"), "(** 2 (neg 1))");
  EXPECT_EQ(tree("a * -b"), "(* a (neg b))");
  EXPECT_EQ(tree("a div b mod c"), "(mod (div a b) c)");
  EXPECT_EQ(tree("not a = b and c or d"), "(or (and (not (= a b)) c) d)");
  EXPECT_EQ(tree("a => b => c"), "(=> a (=> b c))");
  EXPECT_EQ(tree("a or b <=> c => d"), "(<=> (or a b) (=> c d))");
  EXPECT_EQ(tree("n - 1 .. n + 1"), "(.. (- n 1) (+ n 1) none)");
  EXPECT_EQ(tree("x |> f + y |> g"), "(|> (|> x f) g)\n! `+` after a pipe: put the pipe in parentheses");
  EXPECT_EQ(tree("x + y |> f"), "(|> (+ x y) f)");
  EXPECT_EQ(tree("x |> f >= t"), "(>= (|> x f) t)");
  EXPECT_EQ(tree("if a then b else c + d"), "(if a b (+ c d))");
  EXPECT_EQ(tree("if a then b else if c then d else e"), "(if a b (if c d e))");
  EXPECT_EQ(tree("forall[i: {1, 2}] | a[i] > 0 and b"), "(forall i: (set 1 2) | (and (> (index a i) 0) b))");
}

TEST(Expressions, Operands) {
  EXPECT_EQ(tree("a.b(c, d: 1; ...)[0].e"), "(. (index (call (. a b) c d: 1 ; ...) 0) e)");
  EXPECT_EQ(tree("[1, ..s, [2]]"), "(list 1 (splice s) (list 2))");
  EXPECT_EQ(tree("[i * j for i in 0 .. n for j in a]"), "(listof (* i j) for i in (.. 0 n none) for j in a)");
  EXPECT_EQ(tree("{a: 1, b: [2]}"), "(record a: 1 b: (list 2))");
  EXPECT_EQ(tree("(a, b)"), "(tuple a b)");
  EXPECT_EQ(tree("(a)"), "a");
  EXPECT_EQ(tree("300 GB / 1 s"), "(/ 300_GB 1_s)");
  EXPECT_EQ(tree("0.3 ..= 1e-5 step 0.1"), "(..= 0.3 1e-5 0.1)");
  EXPECT_EQ(tree("0..n"), "(.. 0 n none)");
  EXPECT_EQ(tree("~x + \"a\\n\\\"b\\\"\""), "(+ ~x \"a\\n\\\"b\\\"\")");
  EXPECT_EQ(tree("f(; a: 1)"), "(call f ; a: 1)");
}

TEST(Expressions, SoftWordsAreNames) {
  EXPECT_EQ(tree("factor + batch * step"), "(+ factor (* batch step))");
  EXPECT_EQ(tree("weight.of[at]"), "(index (. weight of) at)");
  EXPECT_EQ(tree("fit(train, on: from)"), "(call fit train on: from)");
  EXPECT_EQ(tree("a rem b"), "(rem a b)");
}

TEST(Statements, SoftWordsAsNames) {
  EXPECT_EQ(
      tree("function f(input: int, step: int) -> int {\n  var factor = input\n  factor = factor + step\n  return factor\n}\n"),
      "function f -> int\n  parameter input: int in none = none\n  parameter step: int in none = none\n"
      "  var factor = input\n  factor = (+ factor step)\n  return factor");
}

TEST(Layout, LinesGoOn) {
  EXPECT_EQ(tree("let a = 1\n  + 2\nlet b =\n  3\nlet c = f(1,\n  2)\nlet d = x\n  |> f\n"),
            "let a = (+ 1 2)\nlet b = 3\nlet c = (call f 1 2)\nlet d = (|> x f)");
  EXPECT_EQ(tree("let a = if b\n  then 1\n  else 2\n"), "let a = (if b 1 2)");
  EXPECT_EQ(tree("let a = 1; let b = 2"), "let a = 1\nlet b = 2");
  EXPECT_EQ(tree("let a = {b: 1,\n  c: 2\n}\n"), "let a = (record b: 1 c: 2)");
  EXPECT_EQ(tree("let a = 1 // + 3 \n  /* more\n */ + 2\n"), "let a = (+ 1 2)");
  EXPECT_EQ(tree("let a = 1\r\nlet b = 2\r\n"), "let a = 1\nlet b = 2");
}

TEST(Layout, IndentationHasNoMeaning) {
  EXPECT_EQ(tree("function f(a: int) -> int {\nlet b = a\nif a = 1 {\nreturn b\n}\nreturn a\n}\nlet c = 1\n"),
            tree("function f(a: int) -> int {\n  let b = a\n  if a = 1 {\n    return b\n  }\n  return a\n}\n  let c = 1\n"));
}

TEST(Layout, BodiesAndSets) {
  EXPECT_EQ(tree("function f(a: int in {1, 2} = 1) -> int {\n  for i in {1, 2} { assert i > 0, \"i\" }\n  if a = 1 { return a } "
                 "else if a = 2 {\n"
                 "    return 2 }\n  else\n  {\n    return 3\n  }\n}\n"),
            "function f -> int\n  parameter a: int in (set 1 2) = 1\n  for i in (set 1 2)\n    assert (> i 0), \"i\"\n  if (= a "
            "1)\n    return a\n"
            "  else\n    if (= a 2)\n      return 2\n    else\n      return 3");
}

TEST(Declarations, HeaderOfAnOperator) {
  EXPECT_EQ(
      tree(
          "/// Doc.\n/// More.\nprivate operator f(x, y: tensor[n, ..s], is: list of i64[n]; p: pads = 0, a, b: int)\n    -> (u: "
          "f16[n], v: tensor[])\n"
          "  requires P(a), Q(b)\n  weight w: tensor[a] init zeros if a > 0\n  buffer r: tensor[a]\n         q: tensor[b] init "
          "ones\n"
          "  elementwise u = x\n  elementwise v = y\n  flops mac: a, add: if b > 0 then 1\n  updates r: r\n          q: q + 1\n"),
      "doc \"Doc.\\nMore.\"\nprivate operator f\n"
      "  tensor x: tensor[n, (splice s)] in none = none\n  tensor y: tensor[n, (splice s)] in none = none\n"
      "  tensor is: list of i64[n] in none = none\n"
      "  parameter p: pads in none = 0\n  parameter a: int in none = none\n  parameter b: int in none = none\n"
      "  result u: f16[n]\n  result v: tensor[]\n  requires (call P a)\n  requires (call Q b)\n"
      "  weight w: tensor[a] init zeros if (> a 0)\n  buffer r: tensor[a] init none if none\n  buffer q: tensor[b] init ones if "
      "none\n"
      "  elementwise u: x\n  elementwise v: y\n  flops mac: a\n  flops add: (if (> b 0) 1 none)\n  updates r: r\n  updates q: (+ "
      "q 1)");
}

TEST(Declarations, ParametersByTypeWithoutASeparator) {
  EXPECT_EQ(
      tree("operator zeros(shape: list of int) -> (y: tensor[..shape])\n  native zeros()\n"),
      "operator zeros\n  parameter shape: list of int in none = none\n  result y: tensor[(splice shape)]\n  native (call zeros)");
  EXPECT_EQ(tree("block b(x: tensor[n], a: int) -> tensor[n] { return x }"),
            "block b\n  tensor x: tensor[n] in none = none\n  parameter a: int in none = none\n  result : tensor[n]\n  body\n    "
            "return x");
}

TEST(Declarations, Process) {
  EXPECT_EQ(tree("process P(a, b: int | c: real) y: bool | z: int\next wr total: int, rd rate: real\npre a > 0\npost y = (~total "
                 "< total)\nend_process\n"),
            "process P\n  input 0 a: int in none = none\n  input 0 b: int in none = none\n  input 1 c: real in none = none\n"
            "  output 0 y: bool in none = none\n  output 1 z: int in none = none\n  ext wr total: int\n  ext rd rate: real\n"
            "  pre (> a 0)\n  post (= y (< ~total total))");
}

TEST(Declarations, ProcessAsPrinted) {
  EXPECT_EQ(
      tree("process P(a: seq of nat0, b: {<x>, <y>}) c: set of nat\n"
           "ext rd d: int; wr e: real;\n"
           "pre 2P / 3(a + 1) > -2P ** 2 and b in {<x>} and 1 notin c;\npost 2 mod 3 = 2;\n"
           "comment it's \"text\n  to (the end\nend_process;\n"),
      "process P\n  input 0 a: seq of nat0 in none = none\n  input 0 b: {<x>, <y>} in none = none\n"
      "  output 0 c: set of nat in none = none\n  ext rd d: int\n  ext wr e: real\n"
      "  pre (and (and (> (/ (* 2 P) (* 3 (+ a 1))) (neg (* 2 (** P 2)))) (call inset b (set <x>))) (not (call inset 1 c)))\n"
      "  post (= (mod 2 3) 2)\n  comment \"it's \\\"text\\nto (the end\"");
}

TEST(Declarations, Design) {
  EXPECT_EQ(
      tree("design d of model {\n  factor model: vgg(depth: 16), resnet(depth: 18)\n         kernel: 3, 5 under model = resnet\n "
           " factor depth\n"
           "  input image: [batch, 3]\n        mask: [batch] under model = vgg\n  task infer; full; filter; within 30 s\n  where "
           "a or b\n  where (a - b) "
           "mod c = 0; where a = 1\n  dtype bf16\n"
           "  checkpoint auto(under: 8 GiB)\n  array \"L36\"\n}\n"),
      "design d of model\n  factor model: (call vgg depth: 16), (call resnet depth: 18)\n  factor kernel: 3, 5 under model = "
      "resnet\n"
      "  factor depth: \n  input image: (list batch 3)\n  input mask: (list batch) under model = vgg\n  task infer\n  within "
      "30_s\n  array "
      "\"L36\"\n  full d\n"
      "  where (or a b)\n  where (= (mod (- a b) c) 0)\n  where (= a 1)\n  filter d\n  dtype bf16\n  checkpoint (call auto "
      "under: 8_GiB)");
}

TEST(Declarations, ImportsAndVersion) {
  EXPECT_EQ(tree("tbem 1\nimport std.vision\nimport a.b as c\nimport std.vision: resnet, vgg\nassume image in [0, 1]\n"),
            "tbem 1\nimport std vision\nimport a b as c\nimport std vision: resnet, vgg\nassume image in (list 0 1)");
}

TEST(Ranges, EveryNodeMarksItsText) {
  const Parsed parsed("let a = f(x, 12)[1] |> g\n");
  const auto& constant = ast::cast<ast::Constant>(*parsed.file->declarations.at(0));
  EXPECT_EQ(parsed.sources.text(constant.range), "let a = f(x, 12)[1] |> g");
  EXPECT_EQ(parsed.sources.text(constant.name.range), "a");
  const auto& pipe = ast::cast<ast::Pipe>(*constant.value);
  EXPECT_EQ(parsed.sources.text(pipe.range), "f(x, 12)[1] |> g");
  EXPECT_EQ(parsed.sources.text(pipe.input->range), "f(x, 12)[1]");
  EXPECT_EQ(parsed.sources.text(ast::cast<ast::Index>(*pipe.input).object->range), "f(x, 12)");
}

TEST(Recovery, GoodStatementsAndDeclarationsStay) {
  const Parsed parsed("function f(a: int) -> int {\n  let b = a\n  let c = * 2\n  return b\n}\nlet d = )\nlet e = 2\n");
  EXPECT_EQ(parsed.sink.errorCount(), 2U);
  EXPECT_EQ(syntax::dump(*parsed.file).substr(0, 90),
            "function f -> int\n  parameter a: int in none = none\n  let b = a\n  return b\nlet e = 2\n");
}

TEST(Recovery, AtMostTwenty) {
  std::string text = "function f(a: int) -> int {\n";
  for (int i = 0; i < 50; ++i) text += "  let b = *\n";
  const Parsed parsed(text + "}\n");
  EXPECT_EQ(parsed.sink.errorCount(), 20U);
}

TEST(Comments, AllAreKnown) {
  const Parsed parsed("// a\nlet b = 1 /* c */ + 2 // d\n");
  ASSERT_EQ(parsed.file->comments.size(), 3U);
  EXPECT_EQ(parsed.sources.text(parsed.file->comments[1]), "/* c */");
}

}  // namespace
}  // namespace tbem::test
