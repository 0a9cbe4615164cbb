#!/usr/bin/env python3
"""Holds the scripts of `tbemc completion` against `--help` of every command: completion.py TBEMC COMPLETE.SH FOLDER.

bash runs its script: for a `-` it must offer the options that the help has, and no other; behind an option that takes one of some
words, those words. In the scripts of zsh and fish each option of each command must stand, and behind a value's option a mark for it.
"""
import pathlib
import re
import subprocess
import sys

import commands

TBEMC, COMPLETE, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def output(*arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, cwd=FOLDER).stdout


def options(command):
    """(names, whether a value follows, the words that it may be) of each option in the help."""
    for names, rest in re.findall(r"^  (-[-a-zA-Z0-9]+(?:, ?-[-a-zA-Z0-9]+)*)(.*)", output(TBEMC, command, "--help"), re.MULTILINE):
        kind = re.match(r" ([A-Z]+(?:=[A-Z]+)?(?:\|[A-Z]+)?)(?::\{(\S*)\})?", rest)
        words = kind.group(2).split(",") if kind and kind.group(2) else []
        yield [name.strip() for name in names.split(",")], kind is not None, words


def main():
    scripts = {shell: output(TBEMC, "completion", shell) for shell in ("bash", "zsh", "fish")}
    script = FOLDER / "completion.bash"
    script.write_text(scripts["bash"], encoding="utf-8")
    offered = lambda *words: output(COMPLETE, script, "tbemc", *words).split()
    wrong, count, valued = [], 0, 0
    for command in commands.listed(TBEMC):
        fish = [line for line in scripts["fish"].splitlines() if f'__fish_seen_subcommand_from {command}"' in line]
        zsh = scripts["zsh"].partition(f"\n    {command})\n")[2].partition(";;")[0]
        expected = set()
        for names, value, words in options(command):
            expected |= set(names)
            count += 1
            valued += value
            if words and set(offered(command, names[-1], "")) != set(words):
                wrong.append(f"{command} {names[-1]}: {offered(command, names[-1], '')} instead of {words}")
            long = " -l " + names[-1].lstrip("-") + " " if names[-1].startswith("--") else " -s " + names[-1].lstrip("-") + " "
            lines = [line for line in fish if long in line]
            if len(lines) != 1 or (" -r" in lines[0].partition(" -d ")[0]) != value:
                wrong.append(f"fish: {command} {names[-1]}: {lines}")
            entry = re.search(r"'\*" + re.escape(names[-1]) + r"\[.*?(?<!\\)\](:value:)?", zsh)
            if entry is None or (entry.group(1) is not None) != value:
                wrong.append(f"zsh: {command} {names[-1]}: {entry}")
        if set(offered(command, "-")) != expected:
            wrong.append(f"bash: {command}: {sorted(set(offered(command, '-')) ^ expected)}")
    print("\n".join(wrong) or f"{count} options, {valued} with a value: as the help has them")


if __name__ == "__main__":
    main()
