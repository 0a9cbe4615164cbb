#!/usr/bin/env python3
"""Runs every command of `tbemc --help` with standard output and standard error closed, on a full disk, and as pipes whose reader is gone.

No command may end by a signal of its own making or call it a bug; what it makes beside its output is made; output that was lost
is exit 3. A command that keeps nothing ends by SIGPIPE where nobody reads its output, as others do in a pipeline.
"""
import contextlib
import os
import re
import signal
import sqlite3
import sys
import tempfile

import commands

KEEPS = {"run", "measure", "step", "train", "perturb"}


def rows(path):
    with contextlib.closing(sqlite3.connect(os.fsdecode(path))) as db:
        return db.execute("select count(*) from results where status = 'ok'").fetchone()[0]


def taking(stream, how):
    """Before the command: its stream closed, full, or a pipe whose reader is gone."""

    def prepare():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if how == "closed":
            os.close(stream)
        elif how == "full":
            os.dup2(os.open("/dev/full", os.O_WRONLY), stream)
        else:
            reader, writer = os.pipe()
            os.dup2(writer, stream)
            os.close(writer)
            os.close(reader)

    return prepare


def words(output):
    """What is said, without numbers and without the notes on how busy the machine was, which differ from run to run."""
    notes = rb"^(the machine did other work during|repeats of) .*$"
    return re.findall(rb"[A-Za-z]{4,}", re.sub(notes, b"", output, flags=re.MULTILINE))


def judge(command, stream, how, plain, told):
    """What is wrong with a run, or None."""
    status, output, errors = plain
    lost = (output if stream == 1 else errors) != b"" and not (stream == 2 and how == "closed")
    if not lost:
        expected = status
    elif stream == 1 and how == "gone" and command not in KEEPS:
        expected = -signal.SIGPIPE
    else:
        expected = status or 3
    if told[0] != expected:
        return f"ends with {told[0]}, not {expected}: {told[2]!r}"
    if stream == 1 and expected == 3 and b"tbemc: cannot write the output: " not in told[2]:
        return f"does not say that its output was lost: {told[2]!r}"
    if stream == 2 and words(told[1]) != words(output):
        return f"prints something else: {told[1]!r}"
    return None


def main():
    tbemc = sys.argv[1]
    names = commands.listed(tbemc)
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        place = commands.Place(folder, tbemc)
        for command in names:
            plain = place.run(command)
            if plain[0] not in (0, 5, commands.ENDS.get(command, 0)):
                raise SystemExit(f"{command} ends with {plain[0]}: {plain[2].decode()}")
            for stream in (1, 2):
                for how in ("closed", "full", "gone"):
                    problem = judge(command, stream, how, plain, place.run(command, prepare=taking(stream, how)))
                    made = commands.COMMANDS[command][1]
                    if made == "P.tbemdb" and rows(place.path(made.encode())) != 2:
                        problem = "rows are missing in the store"
                    count += 1
                    if problem:
                        wrong.append(f"{command}, {stream} {how}: {problem}")
    print("\n".join(wrong) or f"{count} runs of {len(names)} commands, as expected")


if __name__ == "__main__":
    main()
