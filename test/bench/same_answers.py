#!/usr/bin/env python3
"""Shows that two builds of tbemc, from before and from after a change that should change no answer, answer the same.

usage: same_answers.py BEFORE AFTER [--only REGEX] [--jobs N] [--list]

Each call of the corpus (answer_calls.py, `--list`) runs once by each binary, in a folder of the same path that is made
anew, with an empty cache of its own. Exit status, standard output, standard error and the files that are left must be
the same byte for byte, but for what a run measures (MEASURED_FIELDS, MEASURED_WORDS). Exits with 1 if an answer differs
or took too long.
"""
import argparse
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import answer_calls

LIMIT = 60  # seconds of a call
TRIES_OF_CLOCK = 4  # of a search that a clock may have ended: a difference that is one comes every time
LINES_SHOWN, COLUMNS_SHOWN = 24, 160

# Only of calls that run something now are fields masked, and only those that a clock or the kernel fills: times,
# examples a second, the resident memory of a process, what else the machine did. The rest of these lines is compared.
# Rows that a store has (a `measure` is in `given`) do not run: what was measured of them is compared too.
RUNNING = {"run", "measure", "step", "train", "perturb"}
NUMBER = rb"-?[0-9][-+.0-9e]*"  # whether there is one at all is compared
MEASURED_FIELDS = re.compile(
    rb'"(seconds|seconds_of_example|learning_seconds|latency|latency_before|latency_increase_mean|latency_increase_most|correlation'
    rb'|examples_per_second|memory_peak|memory_baseline|median|p05|p95|least|most|busy_repeats)\\?":' + NUMBER
    + rb'|"(repeats_differ)":(?:true|false)|"(load|load_most)":\{[^}]*\}')
# The same in sentences: the end of `mlp (row) on ref: loss 0.64, 27.10 µs`; `26.40 ms, 8484 examples/s` of an epoch.
TIME = rb"[0-9][0-9. ]*(?:ns|\xc2\xb5s|ms|s|min|h)\b"
MEASURED_WORDS = [
    (re.compile(rb"^(.* on (?:cpu|ref|fake): (?:.*, )?)" + TIME + rb"$", re.M), rb"\1TIME"),
    (re.compile(rb"; " + TIME + rb", [^;,\n]+ examples/s"), rb"; TIME, RATE examples/s"),
]
# A store keeps the same measured numbers in pages of SQLite: `measure --json` says what is in it.
UNCOMPARED_FILES = re.compile(r"\.tbemdb(-shm|-wal)?$")


@dataclasses.dataclass
class Answer:
    status: int | None  # None: it took longer than LIMIT
    output: bytes
    errors: bytes
    files: dict


class Sides:
    """The two binaries, and the folders in which they run."""

    def __init__(self, before, after, folder):
        self.binaries, self.folder = (before, after), folder
        self.prepared = {}

    def prepare(self, calls):
        """What both sides find: each store and checkpoint is made once, by the binary from before."""
        for call in calls:
            if call.given and call.given not in self.prepared:
                place = self.folder / f"given{len(self.prepared)}"
                for first in call.given:
                    status = run(self.binaries[0], first, fresh(place, first, None)).status
                    if status != 0:
                        raise SystemExit(f"exit status {status} (None: too long), and other calls need it: {first}")
                self.prepared[call.given] = place / "work"

    def answers(self, numbered):
        """Of both, one after the other in a folder of one path, so that no path tells them apart."""
        number, call = numbered
        place = self.folder / f"{number:05}"
        for _ in range(TRIES_OF_CLOCK if call.has_clock() else 1):
            answers = []
            for binary in self.binaries:
                answers.append(run(binary, call, fresh(place, call, self.prepared.get(call.given))))
                shutil.rmtree(place)
            if answers[0] == answers[1]:
                break
        return answers


def fresh(place, call, given):
    """A folder with the call's files, an empty cache, and what was made for both sides."""
    for name in ("work", "cache", "home", "tmp"):
        (place / name).mkdir(parents=True)
    if given is not None:
        shutil.copytree(given, place / "work", dirs_exist_ok=True)
    for file in call.files:
        target = place / "work" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(answer_calls.ROOT / file, target)
    return place


def run(binary, call, place):
    work = place / "work"
    # Nothing of who runs this: no width of a terminal, no options of OpenMP, no environment of Python.
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), "XDG_CACHE_HOME": str(place / "cache"),
                   "TMPDIR": str(place / "tmp"), "LC_ALL": "C.UTF-8", **dict(call.environment)}
    with open(work / call.input if call.input else os.devnull, "rb") as given:
        process = subprocess.Popen([binary, *call.words], cwd=work, env=environment, start_new_session=True,
                                   stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        output, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes of rows
        process.communicate()
        return Answer(None, b"", b"", {})
    files = {str(path.relative_to(work)): path.read_bytes() for path in sorted(work.rglob("*"))
             if path.is_file() and not UNCOMPARED_FILES.search(path.name)}
    if runs_now(call):
        output, errors = masked(output), masked(errors)
        files = {name: masked_checkpoint(content) if name.endswith(".safetensors") else content
                 for name, content in files.items()}
    return Answer(process.returncode, output, errors, files)


def runs_now(call):
    stored = any("measure" in first.words for first in call.given)
    return not stored and RUNNING.intersection(call.words[:1])


def masked(text):
    text = MEASURED_FIELDS.sub(lambda match: b'"' + (match[1] or match[2] or match[3]) + b'":MEASURED', text)
    for pattern, replacement in MEASURED_WORDS:
        text = pattern.sub(replacement, text)
    return text


def masked_checkpoint(content):
    """A training's times stand in its checkpoint, as JSON within JSON; the header's length and checksum follow them."""
    end = 8 + int.from_bytes(content[:8], "little")
    if b'"progress"' not in content[8:end]:
        return content
    header = re.sub(rb'("checksum":)"[0-9a-f]+"', rb"\1MEASURED", masked(content[8:end]))
    return header.rstrip(b" ") + content[end:]


def lines_of(content):
    """For people: a long line falls into the fields of JSON, the sentences of a page, and pieces of what is longer."""
    lines = content.decode("utf-8", "backslashreplace").splitlines()
    parts = [part for line in lines for part in (re.split('(?<=,)(?=")|(?<=>)|(?<=; )', line)
                                                 if len(line) > COLUMNS_SHOWN else [line])]
    return [part[i:i + COLUMNS_SHOWN] for part in parts for i in range(0, max(len(part), 1), COLUMNS_SHOWN)]


def difference(name, before, after):
    """The lines that tell two contents apart, at most LINES_SHOWN; none where they are the same."""
    if before == after:
        return []
    if before is None or after is None:
        return [f"  {name}: only {'after' if before is None else 'before'}"]
    names = f"{name} before", f"{name} after"
    lines = list(difflib.unified_diff(lines_of(before), lines_of(after), *names, n=1, lineterm=""))
    if b"\0" in before or not lines:
        place = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
        lines = [f"{name}: {len(before)} and {len(after)} bytes, which differ from byte {place} on"]
    more = [f"({len(lines) - LINES_SHOWN} more lines)"] if len(lines) > LINES_SHOWN else []
    return ["  " + line for line in lines[:LINES_SHOWN] + more]


def differences(before, after):
    if before.status is None or after.status is None:
        return [f"  took more than {LIMIT} s only {'before' if before.status is None else 'after'}"]
    lines = [] if before.status == after.status else [f"  exit status {before.status} before, {after.status} after"]
    lines += difference("standard output", before.output, after.output)
    lines += difference("standard error", before.errors, after.errors)
    for name in sorted(before.files.keys() | after.files.keys()):
        lines += difference(name, before.files.get(name), after.files.get(name))
    return lines


def compare(sides, calls, jobs):
    """Prints what differs, in the corpus' order; how many differ, and how many took too long on both sides."""
    differ = too_long = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for call, (before, after) in zip(calls, pool.map(sides.answers, enumerate(calls))):
            if before.status is None and after.status is None:
                too_long += 1
                print(f"too long: {call}", flush=True)
            elif before != after:
                differ += 1
                print("\n".join([f"differs: {call}", *differences(before, after)]), flush=True)
    return differ, too_long


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("before", type=pathlib.Path, help="the binary from before")
    parser.add_argument("after", type=pathlib.Path, help="the binary from after")
    parser.add_argument("--only", type=re.compile, default="", help="calls whose line has this, as in --list")
    parser.add_argument("--jobs", type=int, default=2, help="calls at once (default: 2)")
    parser.add_argument("--list", action="store_true", help="print the calls, one a line, and run none")
    arguments = parser.parse_args()
    calls = [call for call in answer_calls.corpus() if re.search(arguments.only, str(call))]
    if arguments.list:
        print("\n".join(str(call) for call in calls))
        return 0
    if not calls:
        raise SystemExit("no call: --only fits none")
    with tempfile.TemporaryDirectory(prefix="same-answers-") as folder:
        sides = Sides(arguments.before.resolve(strict=True), arguments.after.resolve(strict=True), pathlib.Path(folder))
        sides.prepare(calls)
        differ, too_long = compare(sides, calls, arguments.jobs)
    print(f"{len(calls)} calls, {differ} differ" + (f", {too_long} took too long" if too_long else ""))
    return 1 if differ or too_long else 0


if __name__ == "__main__":
    sys.exit(main())
