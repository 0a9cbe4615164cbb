#!/usr/bin/env python3
"""Whether the help of `tbemc` and of each of its commands keeps to the width of the terminal, whatever that is, and says the same at each."""
import os
import re
import subprocess
import sys

import commands

WIDTHS = (60, 80, 200)
WIDEST = 100


def shown(tbemc, words, width):
    done = subprocess.run([tbemc, *words, "--help"], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "COLUMNS": str(width)})
    return done.stdout


def main():
    tbemc = sys.argv[1]
    wrong, count = [], 0
    everything = [[], *([name] for name in commands.listed(tbemc))]
    for words in everything:
        texts = {width: shown(tbemc, words, width) for width in WIDTHS}
        for width, text in texts.items():
            wrong += [f"{words} at {width}: {line!r}" for line in text.splitlines() if len(line) > min(width, WIDEST)]
            wrong += [f"{words} at {width}: ends with a blank: {line!r}" for line in text.splitlines() if line.endswith(" ")]
            if text.split() != texts[WIDTHS[0]].split():
                wrong.append(f"{words}: other words at {width} columns")
        wide = texts[WIDTHS[-1]]
        for option in re.findall(r"^  (-\S+.*(?:\n {10,}.*)*)", wide, re.MULTILINE):
            count += 1
            if len(option.split()) < 3:
                wrong.append(f"{words}: no text: {option!r}")
    print("\n".join(wrong) or f"{len(everything)} texts at 60, 80 and 200 columns, {count} options with a text each")


if __name__ == "__main__":
    main()
