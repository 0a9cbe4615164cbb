#!/usr/bin/env python3
"""Holds the energy of rows over examples against what the store has of each batch, beside counters that go up by one watt.

usage: examples_energy.py FOLDER STORE COMMAND...

The command is `tbemc measure .. --json` with `energy: 0.05`.
"""
import json
import math
import sqlite3
import statistics
import sys

from counted_energy import told_by


def main():
    folder, store, *command = sys.argv[1:]
    rows = [row for row in told_by(folder, command) if row["kind"] == "measure"]
    texts = dict(sqlite3.connect(store).execute("select identity, examples from results where examples <> ''"))
    wrong, watts = [], []
    for row in rows:
        numbers, times = row["over_examples"], json.loads(texts[row["identity"]])["times"]
        joules = [time[4] / time[1] for time in times]
        pairs = [(time[2], time[4]) for time in times]
        expected = {"mean_energy": statistics.fmean(joules), "least_energy": min(joules), "most_energy": max(joules)}
        if len({flops for flops, _ in pairs}) > 1:
            expected["energy_correlation"] = statistics.correlation(*zip(*pairs))
        wrong += [(row["row"], name, numbers[name], value) for name, value in expected.items()
                  if not math.isclose(numbers[name], value, rel_tol=1e-9)]
        if row["energy_reason"] or min(joules) <= 0:
            wrong.append((row["row"], row["energy_reason"]))
        watts += [time[4] / time[3] for time in times]
    watt = statistics.median(watts)
    print(f"{len(rows)} rows as their batches: {wrong or 'the same'}; {'about a watt' if 0.3 < watt < 10 else watt}")
    sys.exit(bool(wrong) or not rows)


if __name__ == "__main__":
    main()
