"""Holds rows of frameworks.tbem that were measured in PyTorch against what is known of them otherwise.

frameworks.py ROWS PYTHON
"""
import json
import subprocess
import sys

with open(sys.argv[1]) as lines:
    rows = [row for row in map(json.loads, lines) if row["kind"] == "measure"]
wrong = [row for row in rows if row["status"] != "ok"]
if wrong:
    sys.exit(f"not measured: {wrong[0]}")
there = {(row["levels"]["batch"], row["levels"]["width"]): row for row in rows if row["backend"] == "pytorch"}
print(f"{len(rows)} rows, {len(there)} of them in PyTorch, {sum(row['reused'] for row in rows)} measured before")

version = subprocess.run([sys.argv[2], "-c", "import torch; print(torch.__version__.partition('+')[0])"], capture_output=True,
                         text=True, check=True).stdout.strip()
for row in there.values():
    assert row["versions"].startswith(f"torch {version}, Python 3."), row["versions"]
    assert row["versions"].endswith("MALLOC_ARENA_MAX=2"), row["versions"]
    assert row["machine"].endswith(", 2 threads"), row["machine"]
    assert row["arena_peak"] is None and row["arena_planned"] is None and row["live"] is None
    assert row["loss_not_finite"] is None
    assert (row["energy"] is None) == bool(row["energy_reason"]), row["energy_reason"]
    # An interpreter that holds PyTorch takes more than 100 MB, and one of these steps less than 100 MB.
    assert 100e6 < row["memory_baseline"] < row["memory_peak"] < row["memory_baseline"] + 100e6, row
    assert 0 < row["latency"]["p05"] <= row["latency"]["median"] <= row["latency"]["p95"] < 10, row["latency"]
    # The median of 20 steps or more lies strictly between quantiles of them.
    assert row["latency"]["p05"] < row["latency"]["p95"], row["latency"]
grown = {key: row["memory_peak"] - row["memory_baseline"] for key, row in there.items()}
assert all(grown[8, width] > grown[4, width] for width in (8, 16)), grown
print("PyTorch: baselines hold the framework, peaks grow with the batch, 20 steps or more of each")
