#!/usr/bin/env python3
"""Checks a plan (CSV on standard input) against the buffers it was made for: same buffers, no two share a byte at one step, nothing lies
above the height. usage: plan_check.py BUFFERS.csv HEIGHT"""
import csv
import sys


def read(stream):
    return {row["id"]: row for row in csv.DictReader(stream)}


wanted, plan = read(open(sys.argv[1])), read(sys.stdin)
assert wanted.keys() == plan.keys(), "the plan has other buffers"
placed = []
for name, row in plan.items():
    assert all(row[key] == wanted[name][key] for key in ("lower", "upper", "size")), f"{name} was changed"
    low, high = int(row["offset"]), int(row["offset"]) + int(row["size"])
    assert 0 <= low and high <= int(sys.argv[2]), f"{name} ends at {high}"
    placed.append((int(row["lower"]), int(row["upper"]), low, high, name))
for i, a in enumerate(placed):
    for b in placed[:i]:
        together = a[0] < b[1] and b[0] < a[1]
        assert not (together and a[2] < b[3] and b[2] < a[3]), f"{a[4]} and {b[4]} share bytes"
print(f"{len(placed)} buffers lie apart below {sys.argv[2]}")
