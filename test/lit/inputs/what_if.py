"""Asks estimate and fit for each line of what-if, which stands on standard input. usage: what_if.py TBEMC PROGRAM DEVICE"""
import json
import subprocess
import sys

tbemc, program, device = sys.argv[1:]
WAYS = {"nothing": [], "the optimiser were fused": ["--update", "fused"], "the optimiser were loop": ["--update", "loop"],
        "images lay in nhwc": ["--layout", "nhwc"], "expandable_segments:True": ["--alloc-conf", "expandable_segments:True"],
        "batch were 2": ["--at", "batch=2"], "each convolution took its smallest workspace": []}  # there is no convolution


def ask(*arguments):
    command = [tbemc, *arguments, program, "--on", "pytorch", "--cudnn", "none", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


rows = [json.loads(line) for line in sys.stdin]
counts = {"device": 0, "change": 0}
base = next(row for row in rows if row["name"] == "nothing")
for row in rows:
    if row["question"] == "device":
        memory = ask("estimate", "--device", row["name"])["memory"]
        assert row["headroom"] == row["memory"] - row["takes"] and row["fits"] == (row["headroom"] >= 0), row
    else:
        memory = ask("estimate", "--device", device, *WAYS[row["name"]])["memory"]
        assert row["difference"] == row["takes"] - base["takes"], row
    assert (row["allocated"], row["reserved"], row["takes"]) == (memory["allocated"], memory["reserved"], memory["device_at_least"]), row
    counts[row["question"]] += 1
fits = [row for row in rows if row["question"] == "device"][:3]
for row in fits:
    assert row["largest"] == ask("fit", "--max", row["name"])["largest"], row
print(f"{counts['device']} devices and {counts['change']} changes agree with estimate, {len(fits)} with fit")
