#!/usr/bin/env python3
"""Edits programs in `tbemc lsp` as a hand does that makes mistakes: edits.py TBEMC FOLDER EDITS [--times] PROGRAM...

Each edit takes, repeats, inserts or replaces a piece; sometimes the program is put right again. In between things are asked at
random places, and every question must be answered. Every eighth edit, and the last, the server's diagnostics must be those that
`tbemc check --json` has of the same text, at the same places. With --times it prints how long diagnostics and answers took, as
JSON: the time from the edit to the diagnostics of its version, to what is told of it first, the processor time of the server's own thread in it (Linux only),
which does not depend on what else runs, and the time from a question to its answer; and which edits took longest.
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import client as lsp

arguments = [one for one in sys.argv[1:] if one != "--times"]
TBEMC, FOLDER, EDITS, PROGRAMS = arguments[0], pathlib.Path(arguments[1]), int(arguments[2]), arguments[3:]
TIMED = "--times" in sys.argv
PIECE = re.compile(r"\w+|\s+|[^\w\s]")
QUESTIONS = ["hover", "definition", "references", "documentHighlight", "prepareRename", "rename", "completion", "documentSymbol",
             "foldingRange", "semanticTokens/full", "formatting", "codeAction", "signatureHelp", "inlayHint", "codeLens"]
KEEP_TEXT = 4  # of so many edits one stays although it broke the program
took = {"diagnostics": [], "first told": [], "diagnostics, processor": []}
longest = []  # (seconds of the processor, program, version)
LONGEST = 10


def processor(client):
    """Seconds of the server's main thread so far; None where the system does not say."""
    try:
        return int(pathlib.Path(f"/proc/{client.process.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return None


def edited(text, numbers):
    """An edit as (begin, end, new text)."""
    pieces = [match.span() for match in PIECE.finditer(text)]
    if not pieces:
        return 0, 0, "network"
    begin, end = numbers.choice(pieces)
    other = text[slice(*numbers.choice(pieces))]
    kind = numbers.randrange(5)
    if kind == 0:
        return begin, end, ""
    if kind == 1:
        return begin, begin, other
    if kind == 2:
        return begin, end, other
    if kind == 3:
        return begin, end, text[begin:end] * 2
    far = min(len(text), begin + numbers.randrange(200))
    return begin, far, numbers.choice(["", "\u00e9", "\U00010400{", "\"", "(", "}\n", "///", "\t", "let x = "])


def checked(path, text):
    """What `tbemc check` says of the file with this text: code, place, message; the place is None in other files."""
    path.write_text(text, encoding="utf-8", newline="")
    run = subprocess.run([TBEMC, "check", str(path), "--json", "--quiet"], stdout=subprocess.PIPE, text=True, cwd=path.parent, check=False)
    assert run.returncode in (0, 1), run
    said = []
    for one in map(json.loads, run.stdout.splitlines()):
        own = one["file"] == str(path)
        where = (one["line"] - 1, one["column"] - 1, one["end_line"] - 1, one["end_column"] - 1) if own else None
        said.append((one["code"], where, one["message"]))
    return said


def compare(path, text, diagnostics):
    said, shown = checked(path, text), []
    for one in diagnostics:
        begin, end = one["range"]["start"], one["range"]["end"]
        shown.append((one["code"], (begin["line"], begin["character"], end["line"], end["character"]), one["message"]))
    assert len(said) == len(shown), (path, text, said, shown)
    for (code, where, message), (shown_code, shown_where, shown_message) in zip(said, shown):
        assert code == shown_code and message in shown_message, (path, text, said, shown)
        assert where is None or where == shown_where, (path, text, code, where, shown_where)


def ask(client, uri, text, numbers):
    what = numbers.choice(QUESTIONS)
    at = lsp.place(text, numbers.randrange(len(text) + 1))
    parameters = {"textDocument": {"uri": uri}, "position": at, "newName": "other_name", "options": {}, "context": {"diagnostics": []},
                  "range": {"start": at, "end": at}}
    start = time.monotonic()
    answer = client.ask("textDocument/" + what, parameters)
    took.setdefault(what, []).append(time.monotonic() - start)
    # A name that cannot be changed is refused; nothing else is.
    assert "result" in answer or "ename" in what and answer["error"]["code"] == -32602, (what, answer)


def work(program):
    folder = FOLDER / pathlib.Path(program).stem
    shutil.copytree(pathlib.Path(program).parent, folder, dirs_exist_ok=True)
    path = folder / "edited.tbem"
    uri = path.as_uri()
    original = text = pathlib.Path(program).read_text(encoding="utf-8")
    # Edits do not depend on what is asked between them.
    name = program.rpartition("/")[2]
    numbers, questions = random.Random(name), random.Random("questions of " + name)
    compared = 0
    with lsp.Client(TBEMC) as client:
        client.open(uri, text)
        compare(path, text, client.diagnostics(uri, 1))
        for version in range(2, EDITS + 2):
            if numbers.randrange(KEEP_TEXT) == 0:
                text = original
                change = {"text": text}
            else:
                begin, end, new = edited(text, numbers)
                change = {"range": lsp.span(text, begin, end), "text": new}
                text = text[:begin] + new + text[end:]
            start, worked = time.monotonic(), processor(client) if TIMED else None
            client.change(uri, version, [change])
            if not TIMED and questions.randrange(2) == 0:
                ask(client, uri, text, questions)  # while it is checked
            last = version == EDITS + 1
            if TIMED or last or version % 8 == 0:
                diagnostics = client.diagnostics(uri, version)
                took["diagnostics"].append(time.monotonic() - start)
                took["first told"].append(client.first - start)
                if worked is not None:
                    took["diagnostics, processor"].append(processor(client) - worked)
                    longest.append((round(processor(client) - worked, 4), path.parent.name, version))
                if TIMED:
                    ask(client, uri, text, questions)
                if last or version % 8 == 0:
                    compare(path, text, diagnostics)
                    compared += 1
    return compared


def times(list_of_seconds):
    ordered = sorted(list_of_seconds)
    at = lambda share: round(1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)
    return {"count": len(ordered), "median_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99), "most_ms": at(1),
            "over_100_ms": sum(one > 0.1 for one in ordered)}


total = sum(work(program) for program in PROGRAMS)
if TIMED:
    said = {what: times(seconds) for what, seconds in took.items() if seconds}
    said["longest"] = sorted(longest, reverse=True)[:LONGEST]
    print(json.dumps(said, indent=1))
else:
    print(f"{len(PROGRAMS)} programs, {EDITS} edits each: {total} times the same as check")
