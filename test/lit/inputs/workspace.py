#!/usr/bin/env python3
"""Checks `estimate --explain workspace --json` of one row against rules that are written down here again: what may be taken, what
is first, and, with --bytes N, that the step is N bytes and the largest workspace alive at once with them.

usage: workspace.py [--bytes N] [--limit N]
"""
import argparse
import json
import sys

arguments = argparse.ArgumentParser()
arguments.add_argument("--bytes", type=int)
arguments.add_argument("--limit", type=int)
options = arguments.parse_args()


def may(row, problem, engine):
    notes = engine["notes"].split(", ")
    if not row["nondeterministic"] and "nondeterministic" in notes:
        return False
    rounds = "tensor core" in notes or "inputs rounded" in notes
    return row["tf32"] or problem.split()[1] != "f32" or not rounds


row = json.loads(sys.stdin.read())
largest = {"first": 0, "smallest": 0, "limited": 0, "none": 0}
for one in row["convolutions"]:
    engines, problem = one["engines"], one["problem"]
    good = [i for i, engine in enumerate(engines) if may(row, problem, engine)]
    size = [engine["workspace"] for engine in engines]
    assert good and one["first"] == good[0], problem
    assert size[one["smallest"]] == min(size[i] for i in good), problem
    assert problem.split()[2] == row["layout"]
    picked = {"first": one["first"], "smallest": one["smallest"]}
    if options.limit is not None:
        fits = [i for i in good if size[i] <= options.limit]
        assert one["limited"] == (fits[0] if fits else None), problem
        picked["limited"] = fits[0] if fits else one["smallest"]
    for name, engine in picked.items():
        largest[name] = max(largest[name], size[engine])
for name, step in row["step"].items():
    if step is None:
        assert name == "limited" and options.limit is None
        continue
    assert step["workspace"] == largest[name], name
    assert step["arena"] >= step["live"] >= row["step"]["none"]["live"] if name != "none" else True
    if options.bytes is not None:
        assert step["live"] == options.bytes + largest[name], (name, step, options.bytes)
print(f"{len(row['convolutions'])} convolutions, {row['answers']['source']} {row['answers']['version']}, "
      f"first at most {largest['first']}, smallest at most {largest['smallest']}")
