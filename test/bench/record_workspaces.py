#!/usr/bin/env python3
"""Records what cuDNN says of the convolutions of the library's networks: the table that answers where no cuDNN can be opened.

usage: record_workspaces.py TBEMC [--cudnn DIR] > runtime/cudnn/recorded.txt

Each network's train step at batch 32 and its published size, f32 and `mixed bf16`, both layouts, TF32 on, deterministic engines:
the first that may be taken and, where it needs less, the one with the smallest workspace. `t` behind it: on tensor cores.
"""
import argparse
import datetime
import json
import subprocess
import sys
import tempfile

NETWORKS = ["alexnet()", "vgg(depth: 16)", "resnet(depth: 34)", "resnet(depth: 50)", "resnext(depth: 50)", "wide_resnet(depth: 50)",
            "densenet()", "mobilenet_v1()", "mobilenet_v2()", "mobilenet_v3()", "squeezenet()", "googlenet()", "efficientnet()",
            "shufflenet_v2()", "convnext()", "vit()"]
DEVICES = ["h200", "a100", "rtx4090"]
TASK = "train(loss: cross_entropy, optimizer: sgd(lr: 0.01))"

arguments = argparse.ArgumentParser()
arguments.add_argument("tbemc")
arguments.add_argument("--cudnn")
options = arguments.parse_args()


def ask(device, dtype, layout):
    """One object for each network."""
    mixed = "  mixed bf16\n" if dtype == "bf16" else ""
    text = "import std.vision: " + ", ".join(sorted({network.split("(")[0] for network in NETWORKS})) + "\n"
    for number, network in enumerate(NETWORKS):
        text += f"design d{number} of {network} {{\n  input image: [32, 3, 224, 224]\n  task {TASK}\n{mixed}}}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".tbem") as program:
        program.write(text)
        program.flush()
        command = [options.tbemc, "estimate", program.name, "--explain", "workspace", "--device", device, "--layout", layout,
                   "--json", "--quiet"] + (["--cudnn", options.cudnn] if options.cudnn else [])
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    assert len(lines) == len(NETWORKS)
    return [json.loads(line) for line in lines]


def show(engine):
    return f"{engine['workspace']}{'t' if 'tensor core' in engine['notes'] else ''}"


def compact(problem):
    """The pass, element type and layout; the rest as numbers: x, out, kernel, stride, pad, dilation, groups."""
    words = problem.split()
    x, weight = words[3].split("x"), words[4].split("x")
    numbers = x + [weight[0]] + weight[2:] + words[6].split(",") + words[8].split(",") + words[10].split(",") + [words[12]]
    return tuple(words[:3]), tuple(map(int, numbers))


COLUMNS = [(p, t, o) for p in ("forward", "data_gradient", "weight_gradient") for t in ("f32", "bf16") for o in ("nchw", "nhwc")]
clocks = {}
command = [options.tbemc, "doc", "--devices", "--json"]
listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
for line in listed.splitlines():
    one = json.loads(line)
    clocks[one["name"]] = one
version = None
sections = []
for device in DEVICES:
    table = {}
    for dtype in ("f32", "bf16"):
        for layout in ("nchw", "nhwc"):
            for row in ask(device, dtype, layout):
                assert version in (None, row["answers"]["version"]) and row["answers"]["libcuda"] != "none"
                version = row["answers"]["version"]
                for one in row["convolutions"]:
                    if one["first"] is None:
                        continue
                    kind, numbers = compact(one["problem"])
                    first, smallest = (one["engines"][one[name]] for name in ("first", "smallest"))
                    text = show(first) + ("," + show(smallest) if smallest["workspace"] < first["workspace"] else "")
                    table.setdefault(numbers, {})[kind] = text
            print(device, dtype, layout, len(table), file=sys.stderr)
    sections.append((device, table))
print(f"cuDNN {version} {datetime.date.today()}")
for device, table in sections:
    d = clocks[device]
    capability = int(round(float(d["compute_capability"]) * 100))
    print(f"device {capability} {round(d['clock'] / 1e3)} {round(d['memory_clock'] / 1e3)} {d['called']}")
    for numbers, kinds in sorted(table.items()):
        print(" ".join(map(str, numbers)) + " " + " ".join(kinds.get(column, "-") for column in COLUMNS))
