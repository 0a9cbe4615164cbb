#!/usr/bin/env python3
"""The words of the language in docs/words.md: words.py TBEMC ROOT FOLDER. Every word of grammar/keywords.txt and of the
compiler's tables has a section that `tbemc doc` prints, no heading has a word that is none, and each section has a program
that `tbemc check` and `tbemc fmt` accept as it stands."""
import json
import pathlib
import re
import subprocess
import sys

TBEMC, ROOT, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
sys.path.insert(0, str(ROOT / "tools/editors"))
from generator import words as tables  # noqa: E402 (found through the line above)

# What processes have beside the tables' words.
OF_PROCESSES = {"seq", "set", "rd", "wr"}
# Of expressions and types that are in no table.
OTHER = {"training", "list", "cast"}


def run(*arguments):
    return subprocess.run([TBEMC, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)


def all_words():
    """Of every class and table."""
    known = tables.read(ROOT)
    found = {word for listed in known.classes.values() for word in listed}
    for listed in (known.dtypes, known.types, known.process_types, known.functions, known.elementwise, known.initializers,
                   known.clauses):
        assert listed
        found.update(listed)
    return found | OF_PROCESSES | OTHER


def sections():
    """(words of the heading, text)"""
    text = (ROOT / "docs/words.md").read_text(encoding="utf-8")
    return [(re.findall("`([^`]+)`", part.partition("\n")[0]), part.partition("\n")[2].strip("\n"))
            for part in re.split("^## ", text, flags=re.MULTILINE)[1:]]


def told(word):
    """What `tbemc doc` says that the word is for: texts, in order."""
    lines = run("doc", word, "--json").stdout.splitlines()
    objects = [json.loads(line) for line in lines if line.startswith("{")]
    return [one["documentation"] for one in objects if one["what"] == "word" and one["name"] == word]


def main():
    wrong, page, wanted = [], sections(), all_words()
    for word in sorted(wanted):
        texts = [text for heading, text in page if word in heading]
        if not texts:
            wrong.append(f"{word}: docs/words.md has no section of it")
        elif told(word) != texts:
            wrong.append(f"{word}: `tbemc doc` does not print its sections")
    for heading, _ in page:
        wrong += [f"{word}: a heading has it, and no table of words" for word in heading if word not in wanted]
    programs, path = 0, FOLDER / "program.tbem"
    for heading, text in page:
        blocks = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if not blocks:
            wrong.append(f"{heading[0]}: no program")
        for block in blocks:
            programs += 1
            path.write_text(block, encoding="utf-8")
            checked = run("check", str(path))
            if checked.returncode != 0 or "warning[" in checked.stdout:
                wrong.append(f"{heading[0]}: its program is refused: {checked.stdout}")
            elif run("fmt", str(path)).stdout != block:
                wrong.append(f"{heading[0]}: its program has another layout than `tbemc fmt` gives it")
    for line in wrong:
        print(line)
    print(f"{len(wanted)} words, {len(page)} sections, {programs} programs, {len(wrong)} wrong")


main()
