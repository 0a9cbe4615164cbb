#!/usr/bin/env python3
"""Runs a command beside counters of energy that go up by one watt, and holds what it says of energy against itself and time.

usage: counted_energy.py FOLDER COMMAND...

The command is `tbemc perturb .. --json --points` with `metric latency, energy`. A run takes as many joules as seconds, but for what
the counters missed; the summary of each method is that of its points.
"""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time


def count(path, ends):
    with open(path, "r+b", buffering=0) as file:
        while not ends.is_set():
            os.pwrite(file.fileno(), b"%020d\n" % int(time.monotonic() * 1e6), 0)
            time.sleep(0.0005)


def told_by(folder, command):
    """What the command prints as JSON, an object a line, beside counters in the folder that go up by one watt."""
    zone = pathlib.Path(folder) / "intel-rapl:0"
    zone.mkdir(parents=True, exist_ok=True)
    for name, text in (("name", "package-0"), ("energy_uj", f"{0:020d}"), ("max_energy_range_uj", str(10**15))):
        (zone / name).write_text(text + "\n")
    ends = threading.Event()
    counting = threading.Thread(target=count, args=(zone / "energy_uj", ends))
    counting.start()
    try:
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "TBEM_POWERCAP": folder}).stdout
    finally:
        ends.set()
        counting.join()
    return [json.loads(line) for line in told.splitlines()]


def main():
    folder, *command = sys.argv[1:]
    rows = told_by(folder, command)
    methods = [row for row in rows if row["kind"] == "perturbed" and row["energy"] is not None]
    bad, watts = [], []
    for method in methods:
        points = [row for row in rows if row["kind"] == "point" and (row["name"], row["method"]) == (method["name"], method["method"])]
        before, after = ([point[name] for point in points] for name in ("energy_before", "energy"))
        increases = [b / a - 1 for a, b in zip(before, after)]
        expected = {"energy_before": statistics.mean(before), "energy": statistics.mean(after),
                    "energy_increase_mean": statistics.mean(increases), "energy_increase_most": max(increases),
                    "battery": 1e4 * statistics.mean(before) / statistics.mean(after)}
        bad += [(method["method"], name, method[name], value) for name, value in expected.items()
                if not math.isclose(method[name], value, rel_tol=1e-9)]
        watts += [point["energy_before"] / point["latency_before"] for point in points]
        if method["energy_reason"] is not None or min(before + after) <= 0:
            bad.append((method["method"], method["energy_reason"]))
    watt = statistics.median(watts) if watts else 0
    # A run's median time leaves out what disturbed it, which the counters have.
    print(f"{len(methods)} methods as their points: {bad or 'the same'}; {'about a watt' if 0.3 < watt < 10 else watt}")
    sys.exit(bool(bad) or not methods)


if __name__ == "__main__":
    main()
