#!/usr/bin/env python3
"""Compares the peak of live tensors that `tbemc estimate --on pytorch-cpu` (or `pytorch`, for CUDA) gives with what PyTorch's MemTracker
reported (a file of docs/measurements made by test/pytorch/live_peaks.py), for every row of that file. usage: pytorch_memory.py TBEMC PEAKS.json
"""
import json
import pathlib
import subprocess
import sys

NETWORKS = {
    "resnet18": "resnet(depth: 18)", "resnet50": "resnet(depth: 50)", "resnet101": "resnet(depth: 101)", "resnext50_32x4d": "resnext()",
    "vgg11": "vgg(depth: 11)", "vgg16": "vgg(depth: 16)", "vgg16_bn": "vgg(depth: 16, norm: true)", "alexnet": "alexnet()",
    "mobilenet_v2": "mobilenet_v2()", "mobilenet_v3_large": "mobilenet_v3()", "densenet121": "densenet()", "squeezenet1_1": "squeezenet()",
    "shufflenet_v2_x1_0": "shufflenet_v2()", "efficientnet_b0": "efficientnet()", "convnext_tiny": "convnext()",
    "vit_b_16": "vit(dropout: 0)",
}
OPTIMIZERS = {"sgd": "sgd(lr: 0.01)", "sgd momentum": "sgd(lr: 0.01, momentum: 0.9)", "adam": "adam()", "adamw fused": "adamw()"}
# MemTracker counts the gradient of the loss, one number, as an activation, and under Adam numbers of the optimiser's.
SMALLEST = {"cpu": 4, "cuda": 512}
MOST_IN_UPDATE = 2048
MOST_UNDER_AUTOCAST = 8704
# Autograd adds a second gradient of a tensor into the first, but not under fake tensors, which are a subclass (its
# can_accumulate_inplace). Where the two of a residual block meet at the peak, MemTracker has one tensor more.
MOST_BY_SUMS = 0.005


def ours(tbemc, row, mixed, clip, device):
    optimizer = OPTIMIZERS[row["optimizer"]]
    if clip:
        optimizer = optimizer.replace(")", f"{'' if optimizer.endswith('()') else ', '}clip_norm: {clip})")
    design = (f"design d of {NETWORKS[row['torchvision']]} {{\n input image: [{row['batch']}, 3, {row['size']}, {row['size']}]\n"
              f" task train(loss: cross_entropy, optimizer: {optimizer})\n {mixed}\n}}")
    if "accumulate" in row:
        design = design[:-1] + f" accumulate {row['accumulate']}\n}}"
    command = [tbemc, "estimate", "-e", design, "--on", "pytorch" if device == "cuda" else "pytorch-cpu", "--json"]
    if "fused" in row["optimizer"]:
        command += ["--update", "fused"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["memory"]


def main():
    tbemc, path = sys.argv[1:]
    truths = json.loads(pathlib.Path(path).read_text())
    autocast, clip, device = truths.get("autocast"), truths.get("clip_norm"), truths.get("device", "cpu")
    for row in truths["rows"]:
        memory, theirs = ours(tbemc, row, "mixed bf16" if autocast else "", clip, device), row["peak"]
        kinds = memory["kinds"]
        pairs = [("total", memory["live"], theirs["Total"])]
        whole = len(theirs) > 1  # else the total alone
        if whole:
            pairs += [("weights", kinds["weights"], theirs["Parameter"]),
                      ("buffers", kinds["buffers"], theirs["Buffer"]), ("input", kinds["input"], theirs["Other"])]
        one_more = row["torchvision"].startswith("resnet") and 0 < theirs["Total"] - memory["live"] < MOST_BY_SUMS * theirs["Total"]
        if one_more:  # the peak may be elsewhere, then
            pairs = pairs[1:]
        elif whole and memory["peak_at"]["phase"] != "optimizer":  # there MemTracker counts temporaries as state
            pairs += [("activations", kinds["activations"], theirs["Activation"]), ("optimizer", kinds["optimizer"], theirs["Optstate"]),
                      # a weight's gradient is a temporary there until it is accumulated
                      ("gradients", kinds["gradients"] + kinds["activation gradients"] + kinds["temporaries"], theirs["Gradient"] + theirs["Temp"])]
        for what, mine, true in pairs:
            allowed = MOST_UNDER_AUTOCAST if autocast else MOST_IN_UPDATE if memory["peak_at"]["phase"] == "optimizer" else 0 if what == "total" else SMALLEST[device]
            if abs(mine - true) > allowed:
                sys.exit(f"{row['torchvision']} batch {row['batch']}, {row['optimizer']}: {what} {mine}, PyTorch {true}")
    accumulated = any("accumulate" in row for row in truths["rows"])
    kind = " under autocast" if autocast else " with clipped gradients" if clip else " of accumulated steps" if accumulated else ""
    kind += " on CUDA" if device == "cuda" else ""
    print(f"{len(truths['rows'])} peaks{kind} are those of torch {truths['torch']}")


if __name__ == "__main__":
    main()
