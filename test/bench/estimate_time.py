#!/usr/bin/env python3
"""Processor time of `tbemc --version` and of an estimate of every row of table1: best of 20, user and system together."""
import argparse
import json
import os
import pathlib
import resource
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def best(command, runs):
    times, walls = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = os.times().elapsed
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        walls.append(os.times().elapsed - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    version = best([arguments.tbemc, "--version"], arguments.runs)
    estimate = best([arguments.tbemc, "estimate", str(ROOT / "examples/table1/table1.tbem"), "--json"], arguments.runs)
    print(json.dumps({"version_seconds": version, "estimate_seconds": estimate, "difference": estimate - version}))


if __name__ == "__main__":
    main()
