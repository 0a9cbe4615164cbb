#!/usr/bin/env python3
"""Whether the order of frameworks by their gap repeats: a program with a regression at several places, so many times.

frameworks_order.py TBEMC PROGRAM --python PYTHON [--runs 3]

Each run measures everything anew, in a store and a folder of its own. Prints a line a run: its seconds, those of processor time,
the load of the machine before it, and the mean response by place, least first; then one object of JSON with all of it, the interval
of each difference of means, and whether all runs have the same order. Exit status 1 where they have not.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def processor_time():
    """Of all children that have ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(arguments, folder):
    load, begun, used = os.getloadavg()[0], time.monotonic(), processor_time()
    done = subprocess.run([arguments.tbemc, arguments.program, "--python", arguments.python, "--store", f"{folder}/run.tbemdb", "--out",
                           f"{folder}/run.out", "--no-plots", "--json", "--quiet"], check=True, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - begun
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    [comparison] = [line for line in lines if line["kind"] == "compare"]
    if comparison["reason"]:
        raise SystemExit(f"the places cannot be compared: {comparison['reason']}")
    measured = [line for line in lines if line["kind"] == "measured"]
    return {"seconds": round(seconds, 1), "processor_seconds": round(processor_time() - used, 1), "load": load, "response": comparison["response"], "rows": comparison["rows"],
            "statuses": sorted({line.get("status", "") for line in measured}),
            "means": {fit["place"]: fit["mean"] for fit in sorted(comparison["fits"], key=lambda fit: fit["mean"])},
            "differences": [{name: one[name] for name in ("left", "right", "difference", "interval", "differs")}
                            for one in comparison["contrasts"] if one["term"] == ""]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tbemc", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    runs = []
    for _ in range(arguments.runs):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(run(arguments, folder))
        one = runs[-1]
        print(f"{one['seconds']} s, {one['processor_seconds']} s of processor time, load {one['load']:.2f}: " + " < ".join(f"{place} {mean / 2**20:.2f} MiB" for place, mean in
                                                                          one["means"].items()), file=sys.stderr, flush=True)
    orders = [list(one["means"]) for one in runs]
    print(json.dumps({"order": orders[0], "repeats": all(order == orders[0] for order in orders), "runs": runs}))
    return 0 if all(order == orders[0] for order in orders) else 1


if __name__ == "__main__":
    sys.exit(main())
