"""Fails where two runs of `tbemc step --json` gave other numbers.

usage: same_steps.py OUTPUT OUTPUT
"""
import json
import sys


def numbers_of(lines):
    """What the steps of a run printed of losses and outputs."""
    rows = [json.loads(line) for line in lines]
    return [{key: row[key] for key in ("loss", "losses", "outputs") if key in row} for row in rows if row["kind"] == "step"]


def main():
    runs = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as lines:
            runs.append(numbers_of(lines))
    one, other = runs
    if not one or not one[0] or one != other:
        sys.exit(f"{one}\n{other}")


if __name__ == "__main__":
    main()
