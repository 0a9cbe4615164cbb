#!/usr/bin/env python3
"""Energy of rows on a card whose counter goes up by WATTS, in JSON of `tbemc measure` on standard input: joules are watts times seconds,
and so they are at rest.

usage: card_energy.py WATTS < ROWS
"""
import json
import sys

watts = float(sys.argv[1])
rows = [row for row in map(json.loads, sys.stdin) if row["kind"] == "measure"]
bad = 0
for row in rows:
    # The counter moves every tenth of a second: one tick more or less at the ends of one second. The median time leaves out what
    # disturbed steps, which may be many.
    step, rest = row["energy"] / row["latency"]["median"] / watts, row["idle_power"] / watts
    good = 0.3 < step < 4 and 0.8 < rest < 1.2 and row["energy_reason"] == ""
    bad += not good
    print(f"{'ok' if good else 'BAD'}: steps take {step:.2f} of the watts, rest {rest:.2f}")
sys.exit(bool(bad) or not rows)
