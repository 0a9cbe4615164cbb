"""Holds the TextMate grammar against programs. Each token of a program, as tokens.py reads it, has a scope that says
what it is; a name has none that says it is a word of the language. Every word of grammar/keywords.txt and every rule of
the grammar is met. grammar_test.py GRAMMAR ROOT"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True

import textmate
import tokens

WORD = ("keyword.", "storage.", "constant.language.")
SCOPES = {"COMMENT": ("comment.",), "TEXT": ("comment.",), "STRING": ("string.",), "NUMBER": ("constant.numeric.",),
          "unit": ("keyword.other.unit.",), "ENUMERATOR": ("constant.other.enumerator.",), **dict.fromkeys(
              ("reserved", "declaration", "header", "body", "anywhere", "connector"), WORD)}
# Names that look like words where they stand: what begins the clauses of experiments, and access to external variables.
NAMED = ("keyword.other.setting.", "storage.modifier.")


def has(scopes, prefixes):
    return any(scope.startswith(prefixes) for scope in scopes)


def wrong(token, scopes):
    """What is wrong with the scopes of one character of a token, or None."""
    if token.kind in SCOPES and not has(scopes, SCOPES[token.kind]):
        return f"no {' or '.join(SCOPES[token.kind])}"
    if token.kind == "COMMENT" and has(scopes, ("comment.line.documentation.",)) != token.text.startswith("///"):
        return "documentation or not"
    no_name = (*WORD, "comment.", "string.", "constant.")
    if token.kind == "NAME" and has(scopes, no_name) and not has(scopes[-1:], NAMED):
        return "a name"
    if token.kind not in ("COMMENT", "TEXT", "STRING") and has(scopes, ("comment.", "string.", "invalid.")):
        return "no text"
    return None


def programs(root):
    """All programs that the compiler reads without a complaint about their layout, and the text of all words."""
    for folder in ("examples", "stdlib", "test/lit", "test/prop/syntax/programs"):
        yield from sorted((root / folder).rglob("*.tbem"))
    yield root / "test/lit/inputs/editors/words.txt"


def faults(text, token, scopes):
    # Blanks at the ends of the lines of a text are nobody's.
    found = (wrong(token, scopes[at]) for at in range(token.begin, token.end) if not text[at].isspace())
    return next(filter(None, found), None)


def main():
    root = pathlib.Path(sys.argv[2])
    grammar = textmate.Grammar(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
    words = tokens.classes(root / "grammar/keywords.txt")
    counts, seen, read, errors = {}, set(), 0, 0
    for path in programs(root):
        text, read = path.read_text(encoding="utf-8"), read + 1
        scopes = grammar.tokenize(text)
        for token in tokens.tokens(text, words):
            counts[token.kind] = counts.get(token.kind, 0) + 1
            if token.kind == "unit" or SCOPES.get(token.kind) == WORD:
                seen.add((token.kind, token.text))
            fault = faults(text, token, scopes)
            if fault:
                errors += 1
                place = f"{path.relative_to(root)}:{text.count(chr(10), 0, token.begin) + 1}"
                found = " ".join(scopes[token.begin]) or "nothing"
                print(f"{place}: {token.kind} `{token.text.splitlines()[0]}`: {fault}: {found}")
    listed = {(kind, word) for word, kinds in words.items() for kind in kinds}
    unseen = sorted(f"{word} ({kind})" for kind, word in listed - seen)
    if unseen:
        print("in no program:", *unseen)
    unused = [rule.start.pattern for rule in grammar.rules.values() if rule.start and rule.number not in grammar.used]
    for pattern in unused:
        print(f"this rule matched nothing: {pattern}")
    print(*(f"{counts[kind]} {kind}" for kind in sorted(counts)), sep=", ")
    print(f"{read} programs, {errors} wrong")
    return 1 if errors or unseen or unused else 0


if __name__ == "__main__":
    sys.exit(main())
