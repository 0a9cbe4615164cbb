#!/usr/bin/env python3
"""What rows on a card took of it, in JSON of `tbemc measure` on standard input: the context and what the first launch takes as the card
has them, an arena as it was planned, and, of a row without room, the parts up to there.

usage: ledger.py CONTEXT LATE < ROWS
"""
import json
import sys

context, late = map(int, sys.argv[1:])
rows = [row for row in map(json.loads, sys.stdin) if row["kind"] == "measure"]
GUARD, PAGE = 2 << 16, 4096  # before the arena and behind it
bad = 0
for row in rows:
    ledger, name = row["ledger"], row["levels"]
    if row["status"] == "oom":
        good = ledger == {"context": context, "arena": None, "prepared": None, "steps": None} and row["device_peak"] == context
        print(f"{'ok' if good else 'BAD'}: without room: {name}")
    else:
        least = row["arena_planned"] + GUARD
        good = ledger["context"] == context and least <= ledger["arena"] <= least + 2 * PAGE and ledger["prepared"] > 0
        good = good and late <= ledger["steps"] + ledger["prepared"] < late + 8 * PAGE and sum(ledger.values()) == row["device_peak"]
        print(f"{'ok' if good else 'BAD'}: {ledger} of {row['device_peak']}, {row['arena_planned']} planned")
    bad += not good
sys.exit(bool(bad) or not rows)
