#!/usr/bin/env python3
"""How rows on the card of the tests were timed, in JSON of `tbemc measure` on standard input: what each says must go together.

usage: card_timing.py < ROWS
"""
import json
import sys

FIXED, WINDOW = 3, 5  # steps of the warm-up that come always, and of a window
rows = [row for row in map(json.loads, sys.stdin) if row["kind"] == "measure"]
bad = 0
for row in rows:
    timing, latency = row["timing"], row["latency"]
    windows, left = divmod(timing["warmup_steps"] - FIXED, WINDOW)
    good = left == 0 and windows >= 2 and timing["warmup_spread"] >= 0
    good = good and 0 < latency["p05"] <= latency["median"] <= latency["p95"] and timing["host"] > 0
    # The clock was asked for at least twice, and fell; the temperature rose.
    good = good and timing["clock"] <= 1980 - 15 and timing["clock"] % 15 == 0 and timing["temperature"] >= 42
    bad += not good
    print(f"{'ok' if good else f'BAD: {row}'}: {timing['caches']} caches, {timing['throttled']}, memory at {timing['memory_clock']:g} MHz")
sys.exit(bool(bad) or not rows)
