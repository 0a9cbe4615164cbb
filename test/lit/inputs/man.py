#!/usr/bin/env python3
"""Holds the manual page against `--help` of every command and the tables of docs/cli.md: man.py TBEMC PAGE CLI.MD.

The page's troff is read by its macros: .SS begins a command, .TP an entry, whose first line is its tag and whose second its text.
"""
import os
import re
import subprocess
import sys

import commands

ESCAPES = {r"\-": "-", r"\(ga": "`", r"\(aq": "'", r"\(ti": "~", r"\(ha": "^", r"\(dq": '"', r"\e": "\\", r"\&": "",
           r"\fB": "", r"\fI": "", r"\fR": ""}


def plain(text):
    text = re.sub(r"\\\[u([0-9A-F]{4,6})\]", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(?:-|e|&|f[BIR]|\([a-z]{2})", lambda match: ESCAPES[match[0]], text)


def sections(page):
    """Of each section and of each command: its entries, text by tag."""
    found, entries = {}, None
    lines = page.splitlines()
    for at, line in enumerate(lines):
        if line.startswith((".SH ", ".SS ")):
            entries = found.setdefault(plain(line[4:]), {})
        elif line == ".TP":
            entries[plain(lines[at + 1])] = plain(lines[at + 2])
    return found


def helped(tbemc, command):
    """Of each option in the help: its names, and its text in one line."""
    text = subprocess.run([tbemc, command, "--help"], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "COLUMNS": "100"}).stdout
    for names, _, first, more in re.findall(r"^  (-[-a-zA-Z0-9]+(?:, ?-[-a-zA-Z0-9]+)*)( [A-Z]\S*)?(?: +(\S.*))?\n((?: {20,}.*\n)*)",
                                            text, re.MULTILINE):
        yield [name.strip() for name in names.split(",")], " ".join((first + " " + more).split())


def main():
    tbemc, page, cli = sys.argv[1], sections(open(sys.argv[2], encoding="ascii").read()), open(sys.argv[3], encoding="utf-8").read()
    wrong, count, names = [], 0, commands.listed(tbemc)
    for command in names:
        entries = page.get("tbemc " + command, {})
        for options, text in helped(tbemc, command):
            count += 1
            tag = next((tag for tag in entries if re.fullmatch(re.escape(", ".join(options)) + r"(?: \S+)?", tag)), None)
            if tag is None:
                wrong.append(f"{command}: {options[-1]} is not on the page")
            elif " ".join(entries[tag].split()) != text and "--help" not in options:
                wrong.append(f"{command}: {options[-1]}: `{entries[tag]}` instead of `{text}`")
    statuses = dict(re.findall(r"^\| (\d+) \| (.*) \|$", cli, re.MULTILINE))
    if page["EXIT STATUS"] != statuses:
        wrong.append(f"statuses: {page['EXIT STATUS']} instead of {statuses}")
    section = cli.partition("## Environment\n")[2].partition("\n\n")[0]
    variables = set(re.findall(r"`([A-Z][A-Z_]{4,})\b", section))
    shown = set(re.findall(r"[A-Z_]{4,}", " ".join(page["ENVIRONMENT"])))
    if shown != variables:
        wrong.append(f"variables: {sorted(shown ^ variables)} on one side alone")
    if wrong:
        print("\n".join(wrong))
        return 1
    print(f"{len(names)} commands, {count} options, {len(statuses)} statuses, {len(variables)} variables: "
          "as the help and docs/cli.md have them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
