#!/usr/bin/env python3
"""Gives every option of every command of `tbemc --help` values that mean nothing: an empty text, what is no number, the option twice.

Options are read off `--help`, so a new one is tried too. Each must be refused as wrong usage, with its name.
"""
import re
import subprocess
import sys

import commands

NUMBERS = {"UINT", "INT", "FLOAT"}
WRONG = ["nan", "inf", "-1", "1e400", "0x10", " 1", "1 "]
MAY_BE_EMPTY = {"--alloc-conf", "--recorded-conf"}  # a text of options: none
LISTS = {"--input", "--alloc-conf"}


def options(tbemc, command):
    """Names and types of the options with a value."""
    text = subprocess.run([tbemc, command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for names, kind in re.findall(r"^  (-[-a-zA-Z0-9]+(?:, ?-[-a-zA-Z0-9]+)*) ([A-Z]+(?:=[A-Z]+)?)(?::\S+|\s|$)", text, re.MULTILINE):
        yield names.split(",")[-1].strip(), kind


def refused(tbemc, command, option, *more):
    """Why the command line is not refused as it should be, or None."""
    done = subprocess.run([tbemc, command, option, *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 2 or option not in done.stdout:
        return f"{command} {option} {more}: {done.returncode} {done.stdout!r}"
    return None


def main():
    tbemc = sys.argv[1]
    wrong, tried, numbers = [], set(), 0
    for command in commands.listed(tbemc):
        for option, kind in options(tbemc, command):
            if (option, kind) in tried:
                continue
            tried.add((option, kind))
            lines = [] if option in MAY_BE_EMPTY else [[""]]
            if kind in NUMBERS:
                numbers += 1
                lines += [[text] for text in WRONG]
            if option not in LISTS:
                lines.append(["1", option, "1"])
            wrong += [problem for problem in (refused(tbemc, command, option, *line) for line in lines) if problem]
    print("\n".join(wrong) or f"{len(tried)} options, {numbers} of them numbers: all refused")


if __name__ == "__main__":
    main()
