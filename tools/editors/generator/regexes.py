"""What the regular expressions of the grammar may say: the part of Oniguruma, which editors use, that Python's `re`
reads alike, so that the test of the grammar sees what an editor sees."""
import re

_PIECE = re.compile(r"""
    (?P<escape>\\[bBsSwWdD] | \\[^\w\s])
  | (?P<class>\[\^?(?:\\[sSwWdD] | \\[^\w\s] | [^\\\[\]&])+\])
  | (?P<group>\((?:\?(?::|=|!|<=|<!)|(?!\?)))
  | (?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{]))
  | (?P<mark>[|)^$.])
  | (?P<letter>[^\\\[\](){}*+?|^$.])
""", re.VERBOSE)


class Refused(Exception):
    """An expression that the two engines might read differently."""


def check(pattern):
    """Refuses named groups, flags, atomic groups, possessive repeats, nested classes, anchors other than `^` and `$`,
    letters behind a backslash that the two do not share, and, by compiling it, lookbehind of no fixed width."""
    at = 0
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        if piece is None:
            raise Refused(f"not in both engines, at {at}: {pattern[at:at + 12]!r} of {pattern!r}")
        at = piece.end()
    try:
        re.compile(pattern)
    except re.error as error:
        raise Refused(f"{error}: {pattern!r}") from error


def check_rules(value):
    """Checks all expressions of a grammar."""
    if isinstance(value, list):
        for each in value:
            check_rules(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("match", "begin", "end") and isinstance(each, str):
                check(each)
            else:
                check_rules(each)


def one_of(words):
    """A group that matches any of these words, longer ones first."""
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"
