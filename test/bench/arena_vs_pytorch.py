#!/usr/bin/env python3
"""What a training step takes on a card that is not here, planned for the backend cuda, beside what eager PyTorch is estimated to take.

Sixteen networks, and one of them without dropout, in f32, with products in TF32, and in mixed precision (bf16): the arena, PyTorch's allocated and reserved peaks, and the ratio of
the arena to the reserved one. Both sides ask the same cuDNN. JSON lines; what fails is named and ends with status 1.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGE = "image: [{}, 3, 224, 224]"
NETWORKS = {
    "resnet(depth: 18)": ("std.vision", IMAGE.format(64)),
    "resnet(depth: 50)": ("std.vision", IMAGE.format(32)),
    "resnext": ("std.vision", IMAGE.format(32)),
    "vgg(depth: 16)": ("std.vision", IMAGE.format(32)),
    "alexnet": ("std.vision", IMAGE.format(128)),
    "mobilenet_v2": ("std.vision", IMAGE.format(64)),
    "densenet": ("std.vision", IMAGE.format(32)),
    "efficientnet": ("std.vision", IMAGE.format(32)),
    "squeezenet": ("std.vision", IMAGE.format(64)),
    "googlenet": ("std.vision", IMAGE.format(64)),
    "shufflenet_v2": ("std.vision", IMAGE.format(64)),
    "convnext": ("std.vision", IMAGE.format(32)),
    "swin": ("std.vision", IMAGE.format(32)),
    "unet": ("std.vision", "image: [16, 3, 256, 256]"),
    "vit": ("std.vision", IMAGE.format(32)),
    "gpt2": ("std.text", "tokens: [8, 512]"),
    "gpt2(dropout: 0)": ("std.text", "tokens: [8, 512]"),
}
MODES = {"f32": ("", ["--tf32", "off"]), "tf32": ("math tf32", ["--tf32", "on"]), "bf16": ("mixed bf16", [])}


def memory(tbemc, folder, network, clause, options):
    module, shape = NETWORKS[network]
    program = pathlib.Path(folder) / "d.tbem"
    task = "task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))"
    program.write_text(f"import {module}: {network.split('(')[0]}\ndesign d of {network} {{ input {shape}; {task}; {clause} }}\n")
    told = subprocess.run([tbemc, "estimate", str(program), "--json", "--quiet", *options], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    found = [row["memory"] for row in rows if row["kind"] in ("estimate", "pytorch") and row["memory"]]
    return found[0] if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--device", default="h200")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for mode, (clause, options) in MODES.items():
            for network in NETWORKS:
                ours = memory(arguments.tbemc, folder, network, clause, ["--on", "cuda", "--device", arguments.device])
                theirs = memory(arguments.tbemc, folder, network, clause, ["--on", "pytorch", "--device", arguments.device, *options])
                row = {"mode": mode, "network": network, "input": NETWORKS[network][1]}
                if ours is None or theirs is None:
                    failed = True
                    print(f"{mode} {network}: no estimate on {'cuda' if ours is None else 'pytorch'}", file=sys.stderr)
                else:
                    row |= {"arena": ours["arena"], "allocated": theirs["allocated"], "reserved": theirs["reserved"],
                            "ratio": round(ours["arena"] / theirs["reserved"], 4)}
                    print(json.dumps(row), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
