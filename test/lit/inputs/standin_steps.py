#!/usr/bin/env python3
"""Compares `tbemc estimate --on pytorch --device` with what PyTorch's own allocator counted over the same two steps (a file of
docs/measurements made by test/pytorch/allocator/eager_steps.py). usage: standin_steps.py TBEMC STEPS.json [N]: one of N steps only
"""
import json
import pathlib
import subprocess
import sys

OPTIMIZERS = {"sgd": "sgd(lr: 0.01)", "sgd momentum": "sgd(lr: 0.01, momentum: 0.9)", "adam": "adam()", "adamw fused": "adamw()"}
DEVICES = {8: "a100", 9: "h100"}


def ours(tbemc, row, clip, version):
    optimizer = OPTIMIZERS[row["optimizer"]]
    if clip:
        optimizer = optimizer.replace(")", f"{'' if optimizer.endswith('()') else ', '}clip_norm: {clip})")
    command = [tbemc, "estimate", "-e", f"mlp(widths: {row['widths']})", "--input", f"x={row['batch']},{row['features']}",
               "--task", f"train(loss: cross_entropy, optimizer: {optimizer})", "--on", "pytorch",
               "--device", DEVICES[row["capability"]], "--cudnn", "none", "--torch", version, "--json"]
    if "fused" in row["optimizer"]:
        command += ["--update", "fused"]
    if row["options"]:
        command += ["--alloc-conf", row["options"]]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["memory"]


def main():
    tbemc, path = sys.argv[1:3]
    some = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    steps = json.loads(pathlib.Path(path).read_text())
    equal, below, above = 0, 0, 0
    rows = [row for i, row in enumerate(steps["rows"]) if i % some == i // some % some]
    for row in rows:
        memory = ours(tbemc, row, steps.get("clip_norm"), steps["torch"])
        differences = [memory[name] - row["peak"][name] for name in ("allocated", "reserved")]
        equal += differences == [0, 0]
        below, above = max(below, -min(differences)), max(above, *differences)
    print(f"{equal} of {len(rows)} steps of torch {steps['torch']} equal, the others {below} bytes below at most, {above} above")


if __name__ == "__main__":
    main()
