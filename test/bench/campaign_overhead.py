#!/usr/bin/env python3
"""What a campaign costs beside its steps: two builds in turn, and how many times as much AFTER takes as BEFORE.

Each round runs fresh campaigns of a design of four rows by three repeats (or of another program: `--program`), with a warm cache of
native code, and takes two numbers a case.

- wall: of a campaign on the backend cpu with one thread, without the time of its steps: those that were timed, the warm-up and the
  check of the arena, each as long as the timed ones are on average.
- processor: user and system time of a campaign on the backend fake whose first call fails, so that it runs no step. It is the
  same on a busy machine.

Prints a line of JSON: the medians of both builds in seconds, and the median of the rounds' ratios.
"""
import argparse
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import time

PROGRAM = """tbem 1
import std.vision: small_vgg
design d of small_vgg(width: 16) {
  factor batch: 4, 8
  factor depth: 11, 19
  input  image: [batch, 3, 32, 32]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))
  full
}
measure d { on cpu; metric memory, latency; repeat 3 }
"""
UNTIMED = 4  # three steps of warm-up, one that checks the arena


def campaign(tbemc, program, folder, arguments, environment):
    """Wall and processor time of a fresh campaign, in seconds, and its store."""
    store = pathlib.Path(folder) / "store.tbemdb"
    store.unlink(missing_ok=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([tbemc, "measure", program, "--store", str(store), "--quiet", "--json", "--threads", "1", *arguments], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, store


def results(store, status):
    """The timed steps of each case, in seconds; all cases must have ended so."""
    with sqlite3.connect(store) as database:
        rows = database.execute("select status, reason, samples from results").fetchall()
    wrong = [reason for ended, reason, _ in rows if ended != status]
    if wrong or not rows:
        raise SystemExit(f"{len(rows)} cases, of which {len(wrong)} did not end as {status}: {wrong[:1]}")
    return [struct.unpack(f"<{len(samples) // 8}d", samples) for _, _, samples in rows]


def wall_a_case(tbemc, program, folder, environment):
    wall, _, store = campaign(tbemc, program, folder, ["--on", "cpu"], environment)
    cases = results(store, "ok")
    steps = sum(sum(times) * (1 + UNTIMED / len(times)) for times in cases)
    return (wall - steps) / len(cases)


def processor_a_case(tbemc, program, folder, environment):
    _, processor, store = campaign(tbemc, program, folder, ["--on", "fake"], {**environment, "TBEM_FAKE": "fail=conv2d"})
    return processor / len(results(store, "failed"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--program", help="another one, with convolutions")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    builds = {"before": arguments.before, "after": arguments.after}
    kinds = {"wall": wall_a_case, "processor": processor_a_case}
    taken = {kind: {build: [] for build in builds} for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        program = arguments.program
        if program is None:
            program = str(pathlib.Path(folder) / "design.tbem")
            pathlib.Path(program).write_text(PROGRAM)
        for turn in range(arguments.rounds + 1):
            for kind, take in kinds.items():
                for build, tbemc in builds.items():
                    seconds = take(tbemc, program, folder, {"XDG_CACHE_HOME": f"{folder}/{build}"})
                    if turn > 0:  # the first fills the caches
                        taken[kind][build].append(seconds)
    answer = {"rounds": arguments.rounds, "load": os.getloadavg()[0]}
    for kind, of in taken.items():
        ratios = [after / before for before, after in zip(of["before"], of["after"])]
        answer[kind] = {**{build: statistics.median(seconds) for build, seconds in of.items()}, "ratio": statistics.median(ratios)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
