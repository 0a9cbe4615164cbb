"""A tree of files as the rules read it: texts, lines, C++ code without its comments, and comments alone."""
import functools
import os
import pathlib
import re

CODE = (".cpp", ".h", ".def", ".inc", ".cu")
# What of C++ is no code: comments, then texts and characters (a ' between digits separates them).
_TOKENS = re.compile(
    r'(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)'
    r'|(?P<text>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r'|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])*\')',
    re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


class Tree:
    """The files below `root` in the named folders and files; folders of builds and of git are not looked at."""

    SKIPPED = {".git", "build", "third_party", "__pycache__"}

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.paths = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in self.SKIPPED and not name.startswith(".venv"))
            self.paths += [(pathlib.Path(folder) / name).relative_to(self.root).as_posix() for name in files]
        self.paths.sort()
        self.known = set(self.paths)

    def code(self, *tops):
        """C++ files below the named folders."""
        return [path for path in self.paths if path.endswith(CODE) and path.split("/")[0] in tops]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    @functools.lru_cache(maxsize=None)
    def split(self, path):
        """(code, comments) of a C++ file, both as long as the file: what is the other's is blank, lines stay lines."""
        code, comments, end = [], [], 0
        text = self.text(path)
        for match in _TOKENS.finditer(text):
            before, here = text[end:match.start()], match.group()
            void = blank(here)
            code += [before, void if match["comment"] else '"' + void[1:-1] + '"']
            comments += [blank(before), here if match["comment"] else void]
            end = match.end()
        return "".join(code) + text[end:], "".join(comments) + blank(text[end:])

    @functools.lru_cache(maxsize=None)
    def words(self, path):
        """The identifiers of a C++ file's code."""
        return set(re.findall(r"[A-Za-z_]\w*", self.split(path)[0]))

    def includes(self, path):
        """(line, whether in quotes, name) of each #include."""
        text = self.text(path)
        return [(line_of(text, match.start(2)), match[1] == '"', match[2]) for match in _INCLUDE.finditer(text)]


def blank(text):
    return "\n".join(" " * len(line) for line in text.split("\n"))


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def within(path, folder):
    return path == folder or path.startswith(folder + "/")
