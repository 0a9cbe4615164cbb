"""A file that a comment or a document names exists: as a path from the root or the file's folder, as a path's end, or
as a bare name; so does a folder that is named from the root."""
import fnmatch
import io
import posixpath
import re
import tokenize

from rules.source import CODE, blank

_SUFFIX = r'\.(?:h|cpp|def|inc|py|tbem|g4|md)(?![\w/(-])(?!\.\w)'
_NAME = re.compile(r'(?<![\w./*{}<>$%@:-])(?:[\w.*{},-]+/)*[\w*{},.-]*[\w*}]' + _SUFFIX)
_HINT = re.compile(r'\w/\w|' + _SUFFIX)
_FOLDER = re.compile(r'(?<![\w/.-])(?:compiler|runtime|test|tools|docs|stdlib|examples|cmake)/[\w/-]*\w(?![\w{.*-])')
_PLACEHOLDER = re.compile(r'(?:.*/)?(?:[A-Z]{2,}|X)(?:\.\w+)?')  # FILE.tbem, docs/errors/CODE.md, stdlib/X
_HASH_COMMENT = re.compile(r'(?:^|(?<=[\s;]))#(?!!)[^\n]*', re.MULTILINE)
_FENCED = re.compile(r'^```.*?^```', re.MULTILINE | re.DOTALL)


def _python_comments(text):
    kept = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            documents = token.type == tokenize.STRING and token.line.lstrip().startswith(('"""', 'r"""'))
            if token.type == tokenize.COMMENT or documents:
                kept.append((token.start[0], token.string))
    except (tokenize.TokenError, SyntaxError):
        return ""
    lines = [""] * (text.count("\n") + 1)
    for line, string in kept:
        for offset, part in enumerate(string.split("\n")):
            lines[line - 1 + offset] += " " + part
    return "\n".join(lines)


def prose(tree, path):
    """What of a file is for readers, line by line; None where it is not looked at."""
    text, top = tree.text(path), path.split("/")[0]
    if path.endswith(CODE):
        return tree.split(path)[1] if top in ("compiler", "runtime", "test", "tools") else None
    if path.endswith(".md"):  # programs shown in a page are the reader's own
        return _FENCED.sub(lambda match: blank(match.group()), text) if top == "docs" or "/" not in path else None
    shell = top == "tools" and text.startswith("#!/usr/bin/env bash")
    if path.endswith((".cmake", "CMakeLists.txt")) or shell:
        return "".join(_only(_HASH_COMMENT, text))
    if path.endswith(".py") or (top == "tools" and text.startswith("#!/usr/bin/env python3")):
        return _python_comments(text)
    return None


def _only(pattern, text):
    end = 0
    for match in pattern.finditer(text):
        yield blank(text[end:match.start()]) + match.group()
        end = match.end()
    yield blank(text[end:])


def _alternatives(name):
    """`Fit.{h,cpp}` and `Fit{,Limit}.h` name one file each."""
    match = re.search(r'\{([^{}]*)\}', name)
    if not match:
        return [name]
    names = (name[:match.start()] + part + name[match.end():] for part in match[1].split(","))
    return [name for part in names for name in _alternatives(part)]


def _named(text):
    """(line, name) of what looks like a file or a folder of the tree."""
    for number, line in enumerate(text.split("\n"), 1):
        if _HINT.search(line):
            for match in [*_NAME.finditer(line), *_FOLDER.finditer(line)]:
                yield from ((number, name) for name in _alternatives(match.group()))


class Names:
    """What file names exist."""

    def __init__(self, tree):
        self.paths = tree.paths
        self.ends = set()
        for path in tree.paths:
            parts = path.split("/")
            self.ends.update("/".join(parts[start:]) for start in range(len(parts)))
            self.ends.update("/".join(parts[:length]) for length in range(1, len(parts)))

    def has(self, name, folder):
        near = posixpath.normpath(posixpath.join(folder, name))
        if "*" in name:
            return any(fnmatch.fnmatch(path, "*" + name) for path in self.paths)
        return name.removeprefix("./") in self.ends or near in self.ends


def check(tree, foreign):
    """`foreign`: names of other projects' files that comments cite, each of which must be cited."""
    errors, files, cited = [], Names(tree), set()
    for path in tree.paths:
        for line, name in _named(prose(tree, path) or ""):
            if name in foreign:
                cited.add(name)
            elif not _PLACEHOLDER.fullmatch(name) and not files.has(name, posixpath.dirname(path)):
                errors.append(f"{path}:{line}: there is no `{name}`: name what is meant")
    return errors + [f"tools/rules/lists.py:1: no comment cites `{name}`: take it off the list"
                     for name in foreign if name not in cited]
