// Elaboration-time values against closed forms: exact arithmetic, lists, functions, units, modules.
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/Session.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tbem::sema {
namespace {

class Plain : public Evaluator {
public:
  using Evaluator::Evaluator;
  using Evaluator::force;
};

struct World {
  Session session;
  std::unique_ptr<Program> program;
  ExprPool pool;
  std::unique_ptr<Plain> evaluator;

  explicit World(const std::string& text, const std::string& name = "test.tbem") {
    program = load(session.sources, session.sink, session.sources.add(name, text), {});
    evaluator = std::make_unique<Plain>(*program, pool, session.sink);
  }
  /// The value of the top-level constant, printed.
  std::string operator[](const std::string& constant) {
    const Resolved found = program->resolve(program->main(), constant);
    if (found.decl == nullptr) return "?";
    const Value value = evaluator->evaluateIn(program->main(), *static_cast<const ast::Constant*>(found.decl)->value, {});
    return value.isPoison() ? "poison" : print(pool, value);
  }
  std::string errors() const { return renderAll(session.sink, session.sources, {}); }
  std::string firstCode() const {
    return session.sink.all().empty() ? "" : std::string(info(session.sink.all().front().kind).code);
  }
};

/// The value of one expression; functions may stand before it.
std::string valueOf(const std::string& expression, const std::string& before = "") {
  World world(before + "\nlet result = " + expression + "\n");
  const std::string text = world["result"];
  return world.session.sink.hasErrors() ? world.firstCode() : text;
}

TEST(Evaluate, NamesAreToldApartWhereverTheyDiffer) {
  std::vector<std::string> names;
  for (std::size_t length = 1; length <= 20; ++length) {
    names.emplace_back(length, 'a');
    for (std::size_t at = 0; at < length; ++at) (names.emplace_back(length, 'a'))[at] = 'b';
  }
  Frame frame;
  for (const std::string& name : names) frame.define(name, {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string again = names[i];
    EXPECT_EQ(frame.find(again), &frame.locals[i]) << again;
    EXPECT_EQ(frame.find(again + "c"), nullptr) << again;
    frame.define(names[i], {});
    EXPECT_EQ(frame.find(again), &frame.locals.back()) << "the last of its name hides the others";
    frame.locals.pop_back();
  }
  EXPECT_EQ(frame.find(""), nullptr);
}

TEST(Numbers, AreExact) {
  EXPECT_EQ(valueOf("1 / 3 + 1 / 6"), "0.5");
  EXPECT_EQ(valueOf("0.1 + 0.2 = 0.3"), "true");
  EXPECT_EQ(valueOf("2 ** 62"), "4611686018427387904");
  EXPECT_EQ(valueOf("2 ** 64"), "E0216");
  EXPECT_EQ(valueOf("-7 div 2"), "-4");
  EXPECT_EQ(valueOf("-7 mod 2"), "1");
  EXPECT_EQ(valueOf("7 cdiv 2"), "4");
  EXPECT_EQ(valueOf("5 div (3 - 3)"), "E0215");
  EXPECT_EQ(valueOf("2 ** (0 - 1)"), "0.5");
  EXPECT_EQ(valueOf("pow(2 / 3, -3)"), "3.375");
  EXPECT_EQ(valueOf("0 ** -1"), "E0215");
  EXPECT_EQ(valueOf("16 ** 0.5 + pow(4, -0.5)"), "4.5");
  EXPECT_EQ(valueOf("(-8) ** 0.5"), "E0214");
  EXPECT_EQ(valueOf("2 ** 3 ** 2"), "512");
  EXPECT_EQ(valueOf("floor(7 / 2) + ceil(7 / 2) + round(5 / 2) + abs(0 - 3)"), "13");
}

TEST(Numbers, KeepTheirUnits) {
  EXPECT_EQ(valueOf("24 GiB = 24 * 1024 * 1 MiB"), "true");
  EXPECT_EQ(valueOf("300 GB / 1 s > 299 GB / 1000 ms"), "true");
  EXPECT_EQ(valueOf("1 GiB + 1 s"), "E0217");
  EXPECT_EQ(valueOf("1 GiB < 2"), "E0217");
  EXPECT_EQ(valueOf("1 W * 1 s = 1 J"), "true");
}

TEST(Lists, ComprehensionsRangesAndShapes) {
  EXPECT_EQ(valueOf("[i * i for i in 0 .. 5]"), "[0, 1, 4, 9, 16]");
  EXPECT_EQ(valueOf("len([x for x in 0.3 ..= 0.9 step 0.1])"), "7");
  EXPECT_EQ(valueOf("[x for x in 5 .. 0 step -2]"), "[5, 3, 1]");
  EXPECT_EQ(valueOf("[i + 10 * j for i in 0 .. 2 for j in 0 .. 2]"), "[0, 10, 1, 11]");
  EXPECT_EQ(valueOf("[1, 2] + [3]"), "[1, 2, 3]");
  EXPECT_EQ(valueOf("[..[1, 2], 7]"), "[1, 2, 7]");
  EXPECT_EQ(valueOf("sum([1, 2, 3]) * product([4, 5]) - max(1, 9) + min([2, 8])"), "113");
  EXPECT_EQ(valueOf("replace([4, 5, 6], -1, 9)"), "[4, 5, 9]");
  EXPECT_EQ(valueOf("drop([4, 5, 6], [0, 2])"), "[5]");
  EXPECT_EQ(valueOf("keep([4, 5, 6], 1)"), "[4, 1, 6]");
  EXPECT_EQ(valueOf("broadcast([4, 1, 6], [5, 1])"), "[4, 5, 6]");
  EXPECT_EQ(valueOf("broadcast_axes([1, 6], [4, 5, 6])"), "[0, 1]");
  EXPECT_EQ(valueOf("[1, 2, 3][3]"), "E0218");
  EXPECT_EQ(valueOf("reverse([1, 2, 3])"), "[3, 2, 1]");
  EXPECT_EQ(valueOf("map(f, [1, 2, 3])", "function f(x: int) -> int { return x * x }"), "[1, 4, 9]");
  EXPECT_EQ(valueOf("zip([1, 2], [3, 4])"), "[(1, 3), (2, 4)]");
  EXPECT_EQ(valueOf("str(3) + \"x\" + str(1 / 4)"), "\"3x0.25\"");
}

TEST(Logic, DecidesFromTheLeft) {
  EXPECT_EQ(valueOf("1 = 2 and 1 div 0 = 1"), "false");
  EXPECT_EQ(valueOf("1 = 1 or 1 div 0 = 1"), "true");
  EXPECT_EQ(valueOf("(1 = 2 => 1 div 0 = 1) and (true <=> not false)"), "true");
  EXPECT_EQ(valueOf("forall[i: {1, 2, 4}] | i mod 3 <> 0"), "true");
  EXPECT_EQ(valueOf("exists[i: 0 .. 5, j: 0 .. 5] | i * j = 12"), "true");
  EXPECT_EQ(valueOf("exists[i: 0 .. 3] | i * i = 3"), "false");
}

TEST(Functions, LoopsAndVariables) {
  const std::string fibonacci =
      "function fib(n: int) -> int {\n var a = 0\n var b = 1\n for i in 0 .. n {\n let c = a + b\n a = b\n b = c\n }\n return "
      "a\n}\n";
  EXPECT_EQ(valueOf("fib(90)", fibonacci), "2880067194370816120");
  EXPECT_EQ(valueOf("fib(93)", fibonacci), "E0216");
  EXPECT_EQ(valueOf("f(1)", "function f(n: int) -> int { return g(n) }\nfunction g(n: int) -> int { return f(n) }"), "E0223");
  EXPECT_EQ(valueOf("f(0.5)", "function f(n: int) -> int { return n }"), "E0214");
  EXPECT_EQ(valueOf("f(3)", "function f(n: int in {1, 2}) -> int { return n }"), "E0226");
  EXPECT_EQ(valueOf("f(3)", "function f(n: int) -> int {\n assert n < 3, \"too many\"\n return n\n}"), "E0227");
  EXPECT_EQ(valueOf("f(2, b: 1)", "function f(a: int, b: int = a, c: int = a + b) -> list of int { return [a, b, c] }"),
            "[2, 1, 3]");
  EXPECT_EQ(valueOf("f(3)", "function f(k: pair) -> list of int { return k }"), "[3, 3]");
  EXPECT_EQ(valueOf("f([1, 2])", "function f(p: pads) -> list of int { return p }"), "[1, 2, 1, 2]");
  EXPECT_EQ(
      valueOf("f()",
              "function f() -> int {\n var n = 0\n for i in 0 .. 10000 { for j in 0 .. 10000 { n = n + 1 } }\n return n\n}"),
      "E0224");
}

class ModuleFiles : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tbem_modules_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder / "a");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }
  std::string program() const { return (folder / "main.tbem").string(); }
  std::filesystem::path folder;
};

TEST_F(ModuleFiles, AreFoundBesideTheProgram) {
  write("a/b.tbem", "let four = 2 + two()\nprivate function two() -> int { return 2 }\n");
  World world("import a.b\nimport a.b as c\nimport a.b: four\nlet x = [b.four, c.four, four]\n", program());
  EXPECT_EQ(world["x"], "[4, 4, 4]") << world.errors();
}

TEST_F(ModuleFiles, PrivateNamesStayInside) {
  write("a/b.tbem", "private function two() -> int { return 2 }\n");
  World named("import a.b: two\n", program());
  EXPECT_EQ(named.firstCode(), "E0205");
  World dotted("import a.b\nlet x = b.two()\n", program());
  EXPECT_TRUE(dotted.session.sink.all().empty());
  EXPECT_FALSE(checkNames(*dotted.program, dotted.session.sink));
  EXPECT_EQ(dotted.firstCode(), "E0205");
}

TEST_F(ModuleFiles, MayNotImportEachOther) {
  write("p.tbem", "import q\nlet one = 1\n");
  write("q.tbem", "import p\nlet two = 2\n");
  World world("import p\nlet x = p.one\n", program());
  EXPECT_EQ(world.firstCode(), "E0207") << world.errors();
}

TEST_F(ModuleFiles, ThatClashAreAnError) {
  write("p.tbem", "let one = 1\n");
  write("q.tbem", "let one = 1\n");
  World world("import p: one\nimport q: one\n", program());
  EXPECT_EQ(world.firstCode(), "E0206");
}

TEST(Modules, OwnNamesWinOverThePreludeWithANote) {
  World world("operator relu(x: tensor[..s]) -> (y: tensor[..s])\n  elementwise y = x\n");
  EXPECT_EQ(world.firstCode(), "N0208");
  EXPECT_EQ(world.session.sink.errorCount(), 0U);
  EXPECT_EQ(world.program->resolve(world.program->main(), "relu").module, &world.program->main());
}

/// The whole library, as if a user had written it, has no name that is unknown, doubled or shadowed.
TEST(Names, OfTheLibraryAreSound) {
  std::string text;
  for (const char* part : {"nn", "vision"}) {
    for (const auto& file : std::filesystem::directory_iterator(test::inSources("stdlib/") + part)) {
      std::ifstream stream(file.path());
      text.append(std::istreambuf_iterator<char>(stream), {});
    }
  }
  World world(text);
  EXPECT_TRUE(checkNames(*world.program, world.session.sink)) << world.errors();
  EXPECT_FALSE(text.empty());
}

}  // namespace
}  // namespace tbem::sema
