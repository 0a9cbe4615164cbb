"""Reads what `tbemc train rewarded.tbem --json` says: how many of the test's examples each training's gate skips."""
import json
import sys

for row in map(json.loads, sys.stdin):
    if row["kind"] == "trained":
        gate, = row["test_gates"]
        print(f"{row['name']}: {gate['taken']} of {gate['reached']} skipped")
