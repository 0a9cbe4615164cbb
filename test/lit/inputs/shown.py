#!/usr/bin/env python3
"""Runs every command of `tbemc --help` on a program whose name, factors and levels have what terminals obey.

What is printed is UTF-8 without controls; `--json` are objects without them, whose values are what the program says; the page of
`report` and plots are well-formed XML, as far as HTML is.
"""
import glob
import html.parser
import json
import os
import sys
import tempfile
import xml.dom.minidom

import commands

ODD = "a\x1b[31mb\x1b]0;c\x07\u009b2J\u202ed\u2066"
PROGRAM = commands.NETWORK.replace("x: tensor[n, c])", "x: tensor[n, c]; kind: string = \"\")") + f"""
design d of tiny() {{
  factor batch: 2, 4
  factor kind: "{ODD}", "plain"
  input  x: [batch, 3]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
  full
}}
measure d {{ on fake; repeat 1 }}
regress growth from d {{ response arena; terms batch }}
predict growth at {{batch: 8, kind: "plain"}}
"""
NAME = b"p\x1b[2J\xff\xc2\x9b"
CONTROLS = {chr(c) for c in range(0x20) if chr(c) not in "\n\t"} | {chr(c) for c in range(0x7F, 0xA0)}
CONTROLS |= {chr(c) for c in [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]}
# Says the program again, whose bytes are the user's: on a terminal alone they are escaped.
VERBATIM = {"fmt"}


def clean(what, data):
    text = data.decode()  # fails where it is not UTF-8
    found = [hex(ord(c)) for c in text if c in CONTROLS]
    if found:
        raise SystemExit(f"{what}: {found[:3]} in {text!r}")
    return text


def levels(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "kind" and isinstance(inner, str) and inner.startswith("a"):
                yield inner
            yield from levels(inner)
    if isinstance(value, list):
        for inner in value:
            yield from levels(inner)


def main():
    tbemc = sys.argv[1]
    seen, escaped = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        place = commands.Place(folder, tbemc, PROGRAM, NAME)
        for command in commands.listed(tbemc):
            status, output, errors = place.run(command)
            if status not in (0, 5, commands.ENDS.get(command, 0)):
                raise SystemExit(f"{command} ends with {status}: {errors}")
            if command not in VERBATIM:
                escaped += clean(command, output + errors).count("\\x1b[31m")
            if command == "report":
                page = clean("page", open(place.path(b"P.out/P.html"), "rb").read())
                html.parser.HTMLParser().feed(page)
                escaped += page.count("\\x1b[31m")
                continue
            if command in ("emit", "replay", "new"):
                continue
            status, output, errors = place.run(command, "--json")
            for line in clean(command + " --json", output).splitlines():
                seen.update(levels(json.loads(line)))
        place.run("regress", "--out", "plots")
        for plot in glob.glob(os.path.join(place.folder, b"plots", b"*.svg")):
            text = open(plot, "rb").read()
            clean(os.fsdecode(plot), text)
            xml.dom.minidom.parseString(text)
    if seen != {ODD}:
        raise SystemExit(f"levels in JSON: {seen}")
    print(f"clean; escaped {'in many places' if escaped > 10 else escaped}")


if __name__ == "__main__":
    main()
