#!/usr/bin/env python3
"""What rows on a card took of it, in JSON of `tbemc measure` on standard input: the context, what the first launch takes and what NVML says
as the card has them, an arena as it was planned, parts and kinds that add up, and, of a row without room, the parts up to there.

usage: ledger.py CONTEXT LATE MODULE GRAPH < ROWS
       MODULE, GRAPH: what each loaded module takes, those that libraries load late too, and each prepared recording
"""
import json
import sys

context, late, module, graph = map(int, sys.argv[1:5])
rows = [row for row in map(json.loads, sys.stdin) if row["kind"] == "measure"]
GUARD, PAGE = 2 << 16, 4096  # before the arena and behind it
COUNTERS = 2 * 1024 * 4  # of the shares of reductions, in each of the two modules that have some
bad = 0
for row in rows:
    ledger, name = row["ledger"], row["levels"]
    if row["status"] == "oom" and ledger["arena"]:
        least = row["arena_planned"] + GUARD
        good = ledger["process"] == row["device_peak"] == context + ledger["arena"] + ledger["buffers"] and ledger["arena"] >= least
        print(f"{'ok' if good else 'BAD'}: its arena alone: {name}: {ledger} of {row['device_peak']}")
    elif row["status"] == "oom":
        good = ledger.pop("context") == context and not any(ledger.values()) and row["device_peak"] == context
        print(f"{'ok' if good else 'BAD'}: without room: {name}")
    else:
        least = row["arena_planned"] + GUARD
        good = ledger["context"] == context and least <= ledger["arena"] <= least + 2 * PAGE and ledger["process"] == row["device_peak"]
        good = good and ledger["late"] in range(late, late + 10 * module, module) and ledger["unexplained"] == 0 and 0 < ledger["buffers"] < 2 * PAGE
        good = good and ledger["recordings"] == graph and module <= ledger["modules"] < 10 * module
        good = good and ledger["modules"] % module - COUNTERS in range(PAGE)  # tables of kernels
        good = good and sum(bytes for part, bytes in ledger.items() if part != "process") == row["device_peak"]
        good = good and sum(row["arena_kinds"].values()) == row["arena_planned"] and row["arena_kinds"]["weights"] > 0
        print(f"{'ok' if good else 'BAD'}: {ledger} of {row['device_peak']}, {row['arena_planned']} planned")
    bad += not good
sys.exit(bool(bad) or not rows)
