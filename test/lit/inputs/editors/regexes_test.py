"""What the generator of the grammars refuses: what Oniguruma and Python's `re` read differently, or only one of them
reads. regexes_test.py ROOT"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tools/editors")

from generator import regexes

BOTH = [r"\bin\b(?!\s*[=:])", r"(?<=[A-Za-z_)\]}\">])\s+(?:of|on)", r"^\s*(?:(private)\s+)?x$", r"a*?b+?c??d{2,3}",
        r"[^\s/{]|/[^/*]", r"(?<!\.)\.", r"\.\.=?|\*\*|[-=<>+*/|~]"]
ONE = [r"(?i)a", r"a++", r"a*+", r"a?+", r"\ha", r"(?<n>a)", r"(?P<n>a)", r"(?>a)", r"[a&&b]",
       r"[[:alpha:]]", r"\p{L}", r"\Aa", r"a\Z", r"\Ga", r"(?<=a+)b", r"(?<=a|bc)d", r"\R", r"\x61", r"(a)\1", r"\K",
       r"(?#note)", r"(?m:a)", r"[a", r"a)", r"a{2}{3}", r"\n"]


def refused(pattern):
    try:
        regexes.check(pattern)
    except regexes.Refused:
        return True
    return False


wrong = [pattern for pattern in BOTH if refused(pattern)] + [pattern for pattern in ONE if not refused(pattern)]
try:
    regexes.check_rules({"patterns": [{"begin": "a", "end": "(?i)b"}]})
    wrong.append("an expression inside a grammar")
except regexes.Refused:
    pass
print(*wrong, sep="\n")
sys.exit(1 if wrong else 0)
