"""Fails where two runs of `tbemc step --json` gave other numbers.

usage: same_steps.py OUTPUT OUTPUT
"""
import json
import sys


def numbers_of(path):
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [{name: row[name] for name in ("loss", "losses", "outputs") if name in row} for row in rows if row["kind"] == "step"]


one, other = (numbers_of(path) for path in sys.argv[1:])
if not one or not one[0] or one != other:
    sys.exit(f"{one}\n{other}")
