#!/usr/bin/env python3
"""Of each row of the examples: the arena that `estimate` says where nothing was ever timed against the one that `measure` touches."""
import json
import os
import subprocess
import sys

tbemc, store, *programs = sys.argv[1:]


def rows(program, *arguments):
    done = subprocess.run([tbemc, arguments[0], program, "--json", "--quiet", *arguments[1:]], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


equal = 0
assert os.environ["XDG_CACHE_HOME"] and not os.path.exists(os.environ["XDG_CACHE_HOME"])
for program in programs:
    said = {(row["design"], row["row"]): row["memory"]["arena"] for row in rows(program, "estimate") if row["kind"] == "estimate"}
    place = os.path.join(store, os.path.basename(program) + "db")
    for row in rows(program, "measure", "--repeat", "1", "--store", place):
        if row["kind"] != "measure":
            continue
        if row["arena_peak"] == row["arena_planned"] == said[row["design"], row["row"]]:
            equal += 1
        else:
            print(f"{program} row {row['row']}: estimated {said[row['design'], row['row']]}, measured {row['arena_peak']}")
print(f"{equal} rows equal")
