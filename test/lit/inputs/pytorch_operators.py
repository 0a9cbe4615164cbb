#!/usr/bin/env python3
"""Compares the peak of live tensors that `tbemc estimate --on pytorch-cpu` gives of steps around single operators with what PyTorch's
MemTracker reported (a file of docs/measurements made by test/pytorch/operator_peaks.py), for every row of that file; of a file about
tensors of CUDA, `--on pytorch`.
usage: pytorch_operators.py TBEMC PEAKS.json FOLDER
"""
import json
import pathlib
import subprocess
import sys


def ours(tbemc, row, device, folder):
    file = folder / "operator.tbem"
    file.write_text(row["program"], encoding="utf-8")
    done = subprocess.run([tbemc, "estimate", file, "--on", device, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["memory"]


def main():
    tbemc, path, folder = sys.argv[1:]
    truths = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    device, wrong = "pytorch" if truths.get("device") == "cuda" else "pytorch-cpu", 0
    for row in truths["rows"]:
        memory = ours(tbemc, row, device, pathlib.Path(folder))
        if memory["live"] != row["peak"]:
            wrong += 1
            print(f"{row['operator']}: {memory['live']} at {memory['peak_at']['operator']}, PyTorch {row['peak']}")
    print(f"{len(truths['rows']) - wrong} of {len(truths['rows'])} peaks around operators are those of torch {truths['torch']}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
