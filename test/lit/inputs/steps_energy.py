#!/usr/bin/env python3
"""Says of which backends steps take about a watt, as counters say that go up by one, and of which others what is wrong.

usage: steps_energy.py FOLDER COMMAND...

The command is `tbemc measure .. --json` with `metric energy`.
"""
import sys

from counted_energy import told_by


def main():
    folder, *command = sys.argv[1:]
    fine, wrong = [], []
    for row in told_by(folder, command):
        if row["kind"] != "measure":
            continue
        # The median time leaves out what disturbed a step, which the counters have.
        watts = row["energy"] / row["latency"]["median"] if row["energy"] is not None else row["energy_reason"]
        (fine if row["energy"] is not None and 0.3 < watts < 10 else wrong).append((row["backend"], watts))
    print(f"{', '.join(sorted(backend for backend, _ in fine))}: about a watt; {wrong or 'all of them'}")
    sys.exit(bool(wrong) or not fine)


if __name__ == "__main__":
    main()
