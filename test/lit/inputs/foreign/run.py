"""Stands for a program that measures a row elsewhere: 1000 bytes and 2 ms for each of the batch, or what MODE says instead."""
import json
import os
import pathlib
import subprocess
import sys
import time

row = json.load(sys.stdin)
batch = row["levels"]["batch"]
with open("ran.txt", "a") as ran:
    print(batch, row["repeat"], row["threads"], row["limits"]["seconds"], sorted(row), os.environ.get("GOMP_SPINCOUNT"), file=ran)
mode = pathlib.Path("mode.txt").read_text().strip() if os.path.exists("mode.txt") else ""
if batch == 4 and mode == "fails":
    print("reading the batch", file=sys.stderr)
    sys.exit("no such batch: 4")
if batch == 4 and mode == "talks":
    print("hello")
if batch == 4 and mode == "misspells":
    print('{"memroy_peak": 3}')
    sys.exit()
if batch == 4 and mode == "full":
    print(json.dumps({"status": "oom", "reason": "the card is full"}))
    sys.exit()
if batch == 4 and mode == "hangs":
    # A child of its own, which must not outlive it.
    subprocess.Popen(["sh", "-c", "sleep 5; echo late > late.txt"])
    time.sleep(60)
if batch == 4 and mode == "allocates":
    kept = bytearray(4 << 30)
print(json.dumps({"memory_baseline": 5000, "memory_peak": f"{5 + batch} KB", "samples": [0.002 * batch] * 3,
                  "versions": "run.py 1", "energy_reason": "no meter there"}))
