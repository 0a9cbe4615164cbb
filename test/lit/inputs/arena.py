#!/usr/bin/env python3
"""Reads `measure` lines: every row must be ok, taken from the store, and must have touched just the arena that was planned."""
import json
import sys

rows = [json.loads(line) for line in sys.stdin]
rows = [row for row in rows if row["kind"] == "measure"]
bad = [row for row in rows if row["status"] != "ok" or row["arena_peak"] != row["arena_planned"] or not row["reused"]]
for row in bad:
    print("BAD", row["levels"], row["status"], row["reason"], row["arena_peak"], row["arena_planned"], row["reused"])
print(f"{len(rows)} rows: arena measured = arena planned, all reused" if rows and not bad else f"{len(bad)} bad rows of {len(rows)}")
sys.exit(1 if bad or not rows else 0)
