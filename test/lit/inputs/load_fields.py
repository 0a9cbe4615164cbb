#!/usr/bin/env python3
"""What JSON lines of `measure` say of the machine's load."""
import json
import os
import sys

lines = [json.loads(line) for line in sys.stdin]
loads = [line["load"] for line in lines if line["kind"] == "measure"]
least = min(load["others"] for load in loads) * os.cpu_count()
assert all(0 <= load[name] <= 1 for load in loads for name in ("others", "stolen")), loads
if least > 0.2:
    print(f"{len(loads)} runs, each with more than 0.2 of a processor used by others")
for line in lines:
    if line["kind"] == "measured":
        print(f"measured: {line['repeats']} of {line['asked']} repeats, {line['busy_repeats']} busy")
