"""Asks estimate and fit for each line of what-if, which stands on standard input. usage: what_if.py TBEMC PROGRAM DEVICE"""
import json
import pathlib
import subprocess
import sys
import tempfile

tbemc, program, device = sys.argv[1:]
WAYS = {"nothing": [], "the optimiser were fused": ["--update", "fused"], "the optimiser were loop": ["--update", "loop"],
        "images lay in nhwc": ["--layout", "nhwc"], "expandable_segments:True": ["--alloc-conf", "expandable_segments:True"],
        "batch were 2": ["--at", "batch=2"], "it were mixed bf16": [], "accumulate 2": [], "accumulate 4": [], "each convolution took its smallest workspace": []}  # there is no convolution
CLAUSES = {"it were mixed bf16": "mixed bf16", "accumulate 2": "accumulate 2", "accumulate 4": "accumulate 4"}


def with_clause(clause, folder):
    """The program, its design closed by one more clause."""
    path = pathlib.Path(folder) / "changed.tbem"
    path.write_text(pathlib.Path(program).read_text().rstrip().removesuffix("}") + f"  {clause}\n}}\n")
    return str(path)


def ask(*arguments, program=program):
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
        with tempfile.TemporaryDirectory() as folder:
            changed = with_clause(CLAUSES[row["name"]], folder) if row["name"] in CLAUSES else program
            memory = ask("estimate", "--device", device, *WAYS[row["name"]], program=changed)["memory"]
        assert row["difference"] == row["takes"] - base["takes"], row
    assert (row["allocated"], row["reserved"], row["takes"]) == (memory["allocated"], memory["reserved"], memory["device_at_least"]), row
    counts[row["question"]] += 1
fits = [row for row in rows if row["question"] == "device"][:3]
for row in fits:
    assert row["largest"] == ask("fit", "--max", row["name"])["largest"], row
print(f"{counts['device']} devices and {counts['change']} changes agree with estimate, {len(fits)} with fit")
