#!/usr/bin/env python3
"""planned.py ESTIMATE MEASURED: the arena that ran is the one that was estimated; prints what of it is a workspace."""
import json
import sys


def line(path, kind):
    with open(path) as file:
        return next(row for row in map(json.loads, file) if row["kind"] == kind)


estimate, measured = line(sys.argv[1], "estimate")["memory"], line(sys.argv[2], "measure")
assert measured["status"] == "ok", measured["reason"]
same = estimate["arena"] == measured["arena_planned"]
print(f"workspace {estimate['kinds']['workspace']}, planned {'as' if same else 'otherwise than'} estimated")
