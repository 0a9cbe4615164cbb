"""Limits: how long a file may be, how many files a folder, and which places may do what few should. The list of places
only gets shorter: an entry that nothing needs any more is an error too."""
import re
from dataclasses import dataclass

from rules.source import line_of

LINES = 400
FILES = 25
_LIST = "(tools/rules/lists.py)"


@dataclass(frozen=True)
class Use:
    """What only some places may do: what `pattern` matches, WORD in it being any of `words`. A place is a file, a
    folder (its own files) or, with / at the end, all below a folder."""
    what: str
    words: str
    pattern: str
    advice: str
    places: tuple
    tops: tuple = ("compiler", "runtime", "tools")


def check_lines(tree):
    errors = []
    scripts = [path for path in tree.paths if path.endswith(".py")]
    for path in tree.code("compiler", "runtime", "tools", "test") + scripts:
        lines = tree.text(path).count("\n")
        if lines > LINES:
            errors.append(f"{path}:{lines}: {lines} lines, at most {LINES}: move one of the things it holds to a file "
                          "of its own")
    return errors


def check_folders(tree):
    sizes = {}
    for path in tree.code("compiler"):
        folder = path.rpartition("/")[0]
        sizes[folder] = sizes.get(folder, 0) + 1
    return [f"{folder}:1: {size} source files, at most {FILES}: part it by what its files are for"
            for folder, size in sizes.items() if size > FILES]


def _holds(place, path):
    return path.startswith(place) if place.endswith("/") else place in (path, path.rpartition("/")[0])


def check_uses(tree, uses):
    errors = []
    for use in uses:
        needed, words = set(), use.words.split()
        pattern = re.compile(use.pattern.replace("WORD", "(?:" + "|".join(words) + ")"))
        for path in tree.code(*use.tops):
            if tree.words(path).isdisjoint(words):
                continue
            code = tree.split(path)[0]
            for match in pattern.finditer(code):
                holders = [place for place in use.places if _holds(place, path)]
                needed.update(holders)
                if not holders:
                    line, found = line_of(code, match.start()), match.group().strip()
                    errors.append(f"{path}:{line}: {use.what} (`{found}`): {use.advice}")
        errors += [f"{place}:1: nothing there {use.what}: take it off the list {_LIST}"
                   for place in use.places if place not in needed]
    return errors
