"""Each rule of tools/rules on small trees: one that breaks it, one that keeps it. Run by ctest as `rules`."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from rules import includes, limits, lists, mentions, sizes, types  # noqa: E402 (found through the line above)
from rules.source import Tree  # noqa: E402


class RuleTest(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in files.items():
            place = pathlib.Path(folder.name) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return Tree(folder.name)

    def expect(self, errors, *parts):
        """One error for each part, which holds it."""
        self.assertEqual(len(errors), len(parts), errors)
        for error, part in zip(errors, parts):
            self.assertIn(part, error)


class SourceTest(RuleTest):
    def test_comments_and_texts_are_no_code(self):
        text = 'int a = 1\'000;  // b\nauto c = "// d";  /* e\n f */ char g = \'"\'; auto h = R"x(/* " )x"; int i;\n'
        code, comments = self.tree({"runtime/a.h": text}).split("runtime/a.h")
        self.assertEqual(len(code), len(text))
        self.assertEqual(len(comments), len(text))
        for word in ("1'000", "int i;", "char g"):
            self.assertIn(word, code)
        for word in ("d", "e\n", "/*", "//"):
            self.assertNotIn(" " + word, code)
        self.assertEqual(comments.split(), ["//", "b", "/*", "e", "f", "*/"])


class IncludesTest(RuleTest):
    TABLE = {"compiler/low": [], "compiler/mid": ["compiler/low"], "compiler/top": ["compiler/mid"],
             "compiler/any": ["*"]}

    def folders(self, path, line, libraries=None):
        return includes.check_folders(self.tree({path: "#include " + line + "\n"}), self.TABLE, libraries or {})

    def test_a_folder_uses_what_its_row_allows(self):
        self.expect(self.folders("compiler/top/A.h", '"compiler/low/B.h"'))
        self.expect(self.folders("compiler/any/A.h", '"compiler/top/B.h"'))
        self.expect(self.folders("compiler/low/A.h", '"compiler/mid/B.h"'),
                    "compiler/low/A.h:1: compiler/low may not use compiler/mid")

    def test_a_folder_has_a_row(self):
        self.expect(self.folders("compiler/new/A.h", "<vector>"), "compiler/new/A.h:1: its folder has no row")

    def test_a_library_has_its_folders(self):
        libraries = {r"^png\.h": ["compiler/low"]}
        self.expect(self.folders("compiler/low/A.cpp", "<png.h>", libraries))
        self.expect(self.folders("compiler/mid/A.cpp", "<png.h>", libraries), "compiler/mid may not include <png.h>")

    def test_what_is_included_exists(self):
        text = '#include "B.h"\n#include "test/unit/a/C.h"\n#include <d.h>\n'
        tree = self.tree({"test/unit/a/A.cpp": text, "test/unit/a/B.h": ""})
        self.expect(includes.check_existing(tree), "test/unit/a/A.cpp:2: there is no file `test/unit/a/C.h`")

    def test_internal_headers_stay_inside(self):
        user = '\n#include "compiler/low/in/A.h"\n'
        for said, errors in (("this folder", 2), ("compiler/low", 1), ("compiler", 0)):
            tree = self.tree({"compiler/low/in/A.h": f"// Rows. Internal to {said}.\n", "compiler/low/in/A.cpp": user,
                              "compiler/low/B.cpp": user, "compiler/mid/C.cpp": user, "test/unit/low/D.cpp": user})
            self.assertEqual(len(includes.check_internal(tree)), errors, said)

    def test_libraries_link_what_they_include(self):
        cmake = "tbem_folder(compiler/low LINK fmt)\ntbem_folder(compiler/mid PARTS in ../any/out LINK tbem_compiler_low)\n"
        files = {"CMakeLists.txt": cmake, "compiler/any/out/A.h": '#include "compiler/low/A.h"\n',
                 "compiler/mid/in/A.h": '#include "compiler/low/A.h"\n#include "compiler/any/out/A.h"\n'}
        self.expect(includes.check_links(self.tree(files)))
        files["compiler/low/A.h"] = '\n#include "compiler/mid/in/A.h"\n'
        self.expect(includes.check_links(self.tree(files)),
                    "compiler/low/A.h:2: tbem_compiler_low does not link tbem_compiler_mid (compiler/mid/in/A.h)")

    def test_tests_link_what_they_include(self):
        cmake = ("tbem_folder(compiler/low LINK fmt)\ntbem_folder(compiler/mid PARTS in LINK tbem_compiler_low)\n"
                 "tbem_folder(compiler/top LINK tbem_compiler_mid)\n")
        files = {"CMakeLists.txt": cmake, "test/unit/m/links.cmake": "set(LINKS tbem_compiler_mid)\n",
                 "test/unit/m/A.cpp": '#include "compiler/low/A.h"\n#include "compiler/mid/in/A.h"\n'}
        self.expect(includes.check_tests(self.tree(files)))
        files["test/unit/m/A.cpp"] += '#include "test/unit/H.h"\n'
        files["test/unit/H.h"] = '#include "compiler/top/A.h"\n'
        self.expect(includes.check_tests(self.tree(files)),
                    "test/unit/H.h:1: test/unit/m does not link tbem_compiler_top (compiler/top/A.h)")


class TypesTest(RuleTest):
    def names(self, text):
        return [f"{space}::{name}" for _, space, name in types.types_of(text)[0]]

    def test_names_are_those_of_namespaces(self):
        text = """#define X struct Not {
namespace a::b { struct One { struct Inner {}; }; enum class Two : int { c }; namespace { struct Three {}; } }
namespace a { inline namespace c { template <class T> class [[nodiscard]] Four final : public T {}; } }
namespace a { struct One::Five {}; }
template <> struct std::hash<a::Six> {}; struct Seven* f() { struct Local {}; return nullptr; } struct Declared;
"""
        self.assertEqual(self.names(text), ["a::b::One", "a::b::Two", "a::b::(anonymous)::Three", "a::c::Four",
                                            "a::One::Five", "::std::hash<a::Six>"])

    def test_two_types_of_one_name(self):
        one, two = "namespace n { struct T { int a; }; }\n", "\nnamespace n {\nclass T { int b; };\n}\n"
        self.expect(types.check(self.tree({"compiler/a/A.h": one, "compiler/b/B.h": two})),
                    "compiler/b/B.h:3: type `n::T` is also defined in compiler/a/A.h:1")
        other = two.replace("namespace n", "namespace m")
        self.expect(types.check(self.tree({"compiler/a/A.h": one, "compiler/b/B.h": other})))
        self.expect(types.check(self.tree({"compiler/a/A.h": one, "test/unit/b/B.h": two})), "n::T")
        self.expect(types.check(self.tree({"test/unit/a/A.h": one, "test/unit/b/B.h": two})))  # two programs

    def test_types_of_one_source_file_are_its_own(self):
        text = "namespace n { struct T {}; }\n"
        self.expect(types.check(self.tree({"compiler/a/A.cpp": text})), "compiler/a/A.cpp:1: type `T` of a .cpp file")
        self.expect(types.check(self.tree({"compiler/a/A.cpp": "namespace n { namespace { struct T {}; } }\n"})))
        self.expect(types.check(self.tree({"compiler/a/A.cpp": text, "compiler/a/A.h": "namespace n { struct T; }\n"})))
        friend = "class U { friend struct T; };\n"
        self.expect(types.check(self.tree({"compiler/a/A.cpp": text, "compiler/a/A.h": friend})))


class MentionsTest(RuleTest):
    def check(self, text, path="compiler/a/A.h", foreign=()):
        return mentions.check(self.tree({path: text, "compiler/a/There.cpp": ""}), foreign)

    def test_files_that_comments_name_exist(self):
        for name in ("There.cpp", "a/There.cpp", "compiler/a/There.cpp", "There*.cpp", "FILE.tbem", "compiler/a"):
            self.expect(self.check(f"// As in ({name}).\n"))
        for name in ("Gone.cpp", "b/There.cpp", "Gone*.cpp", "compiler/b", "docs/Gone.md"):
            self.expect(self.check(f"\n// As in ({name}).\n"), f"compiler/a/A.h:2: there is no `{name}`")

    def test_alternatives(self):
        self.expect(self.check("// {A,There,Gone}.cpp\n"), "`A.cpp`", "`Gone.cpp`")

    def test_only_what_is_for_readers(self):
        self.expect(self.check('auto text = "Gone.cpp";\n'))
        self.expect(self.check("# Gone.cpp\nset(a Gone.h)\n", "cmake/A.cmake"), "cmake/A.cmake:1")
        text = '"""Gone.cpp"""\na = "Gone.h"  # Gone.md\n'
        self.expect(self.check(text, "tools/a.py"), "tools/a.py:1", "tools/a.py:2")
        self.expect(self.check("`Gone.cpp`\n```\ncat Gone.tbem\n```\n", "docs/a.md"), "docs/a.md:1")

    def test_other_projects_files_are_listed_while_they_are_cited(self):
        self.expect(self.check("// c10/Gone.cpp\n", foreign=["c10/Gone.cpp"]))
        self.expect(self.check("// There.cpp\n", foreign=["c10/Gone.cpp"]), "no comment cites `c10/Gone.cpp`")


class CirclesTest(RuleTest):
    def check(self, **files):
        return includes.check_circles(self.tree({name.replace("__", "/").replace("_", "."): "".join(
            f'#include "{other}"\n' for other in others) for name, others in files.items()}))

    def test_headers(self):
        self.expect(self.check(compiler__a__A_h=["compiler/a/B.h"], compiler__a__B_h=["compiler/a/C.h"], compiler__a__C_h=[]))
        self.expect(self.check(compiler__a__A_h=["compiler/a/B.h"], compiler__a__B_h=["compiler/a/C.h"],
                               compiler__a__C_h=["compiler/a/A.h"]), "compiler/a/A.h:1: these headers include each other")

    def test_files_of_several_folders(self):
        files = {"compiler__a__A_h": [], "compiler__a__B_h": ["compiler/a/A.h"], "compiler__a__A_cpp": ["compiler/a/B.h"]}
        self.expect(self.check(**files))
        files = {"compiler__a__A_h": [], "compiler__b__B_h": ["compiler/a/A.h"], "compiler__a__A_cpp": ["compiler/b/B.h"]}
        self.expect(self.check(**files), "compiler/a/A:1: these files of several folders include each other")


class SizesTest(RuleTest):
    def check(self, text):
        return sizes.check(self.tree({"compiler/a/A.cpp": text}))

    def test_lines_of_a_function(self):
        def function(lines, head="void f() {\n"):
            return head + "  g();\n" * (lines - head.count("\n") - 1) + "}\n"
        self.expect(self.check(function(80)))
        self.expect(self.check("\n" + function(81)), "compiler/a/A.cpp:2: a function of 81 lines, at most 80")
        long_head = "template <class T>\nA::A(int a,\n     int b)\n    : a(a), b(b) {\n"
        self.expect(self.check(function(80, long_head)))
        self.expect(self.check(function(81, long_head)), "compiler/a/A.cpp:1: a function of 81 lines")
        inside = "struct A {\n  int a = 0;\n\n  void f() {\n" + "    g();\n" * 80 + "  }\n};\n"
        self.expect(self.check(inside), "compiler/a/A.cpp:4: a function of 82 lines")
        self.expect(self.check("namespace a {\n" + "int b;\n" * 90 + "}\n"))
        self.expect(self.check("void f() {\n  g([&] {\n" + "    h();\n" * 90 + "  });\n}\n"), "A.cpp:1: a function of 94")

    def test_parameters(self):
        six = "int a, A<int, int> b, void (*c)(int, int), std::array<int, 3> d = {1, 2, 3}, int e, int f"
        self.expect(self.check(f"void f({six}) {{\n}}\n"))
        self.expect(self.check(f"void f({six}, int g) {{\n}}\n"), "compiler/a/A.cpp:1: 7 parameters, at most 6")
        self.expect(self.check(f"A f({six},\n    int g) {{\n}}\n"), "compiler/a/A.cpp:1: 7 parameters")
        self.expect(self.check("void operator()(int a) {\n}\n"))
        self.expect(self.check("  f(a, b, c, d, e, f, [](int) {\n  });\n"))

    def test_a_long_class_says_why_it_is_one(self):
        body = "class A {\n" + "  int a;\n" * 199 + "};\n"
        self.expect(self.check(body), "compiler/a/A.cpp:1: `A` has 201 lines, more than 200")
        self.expect(self.check("/// One class: all of it is one.\n" + body))
        self.expect(self.check("/// Does it. One\n/// class: all of it is one.\ntemplate <class T>\n" + body))
        self.expect(self.check("class A {\n" + "  int a;\n" * 198 + "};\n"))


class LimitsTest(RuleTest):
    def test_lines(self):
        def check(lines):
            return limits.check_lines(self.tree({"runtime/A.cpp": "\n" * lines}))
        self.expect(check(400))
        self.expect(check(401), "runtime/A.cpp:401: 401 lines, at most 400")
        self.expect(limits.check_lines(self.tree({"test/a.py": "\n" * 401})), "test/a.py:401")

    def test_files_of_a_folder(self):
        def check(files):
            return limits.check_folders(self.tree({f"compiler/a/A{number}.h": "" for number in range(files)}))
        self.expect(check(25))
        self.expect(check(26), "compiler/a:1: 26 source files, at most 25")

    def test_what_few_may_do(self):
        def check(text, *places):
            use = limits.Use("forks", "fork spoon", r"\bWORD\(", "do not", places)
            return limits.check_uses(self.tree({"compiler/a/b/A.cpp": text}), [use])
        self.expect(check("\nfork();\n"), "compiler/a/b/A.cpp:2: forks (`fork(`): do not")
        self.expect(check("// fork()\n"))
        for place in ("compiler/a/b/A.cpp", "compiler/a/b", "compiler/a/"):
            self.expect(check("fork();\n", place))
            self.expect(check("", place), "take it off")
        self.expect(check("fork();\n", "compiler/a"), "compiler/a/b/A.cpp:1", "compiler/a:1: nothing there")

    def test_the_words_of_the_lists(self):
        def found(line):
            tree = self.tree({"compiler/new/A.cpp": line + "\n"})
            return [error for error in limits.check_uses(tree, lists.USES) if error.startswith("compiler/new/")]
        for line in ("#include <omp.h>", "const pid_t child = ::fork();", "if (fork() == 0) return;", "return fork();",
                     "std::abort();", "_exit(0);", "mallopt(M_TOP_PAD, 1);", 'fmt::print("a");', "std::cerr << a;",
                     'printErr("a");', "std::fputs(text, stderr);", "fprintf(stderr, a);", "std::getenv(name);",
                     "std::shared_ptr<int> a;", "nlohmann::json j;"):
            self.assertEqual(len(found(line)), 1, line)
        for line in ("CachingAllocator fork();", "CachingAllocator CachingAllocator::fork() {", "auto b = a.fork();",
                     "void abort();", "int exit = 0;", "app.exit(e);", "fmt::format(a);", "out.print(a);", "// std::abort()",
                     'auto a = "fork()";', "snprintf(a, 1, b);", "std::unique_ptr<int> a;"):
            self.expect(found(line))


if __name__ == "__main__":
    unittest.main()
