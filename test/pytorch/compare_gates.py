#!/usr/bin/env python3
"""Holds the decisions and results of gated networks against PyTorch, which computes every arm and selects.

usage: compare_gates.py [--tbemc PATH] [--network skipnet|sdn_resnet56] [--n 3] [--inputs 10000] [--batch 500] [--one 20]

Same weights, same pictures, f32 on `cpu`. Every decision of every sample is compared; one may differ only where PyTorch's own score is
within 1e-6 of the threshold (such are counted and shown), and what follows it in that sample is then left out. Results of the other
samples agree to 1e-4 of their size. `--one K`: K pictures also one by one, in a batch of one. Exits with 1 where a bound is broken.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

from compare_step import load
from gated_models import Arrays, SdnResNet56, SkipNet, calibrate, images

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SDN_TAU = 0.4  # with weights that are not trained, at which samples leave at several exits
PROGRAMS = {
    "skipnet": "import std.adaptive: skipnet\ndesign d of skipnet(n: {n}) {{ input image: [{batch}, 3, 32, 32] }}\n",
    "sdn_resnet56": "import std.adaptive: sdn_resnet56\ndesign d of sdn_resnet56(tau: {tau}) {{ input image: [{batch}, 3, 32, 32] }}\n",
}


def model_of(network, arrays, n):
    return SkipNet(Arrays(arrays), n=n) if network == "skipnet" else SdnResNet56(Arrays(arrays), tau=SDN_TAU)


class Runner:
    """One network at one batch size, through `tbemc step`."""

    def __init__(self, tbemc, folder, network, n, batch, backend="cpu"):
        self.tbemc, self.folder, self.backend = tbemc, pathlib.Path(folder), backend
        self.program = self.folder / f"{network}{n}_{batch}.tbem"
        self.program.write_text(PROGRAMS[network].format(n=n, batch=batch, tau=SDN_TAU))

    def step(self, *arguments):
        command = [self.tbemc, "step", str(self.program), "--json", "--quiet", "--threads", "2", "--on", self.backend, *arguments]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return next(row for row in map(json.loads, out.splitlines()) if row["kind"] == "step")

    def initial(self):
        path = self.folder / "initial.npz"
        self.step("--save", str(path))
        return load(path)

    def run(self, weights, pictures, *arguments):
        given, saved = self.folder / "given.npz", self.folder / "saved.npz"
        np.savez(given, **weights, **{"input/image": pictures.numpy()})
        row = self.step("--load", str(given), "--save", str(saved), *arguments)
        return row, load(saved)


def prepare(runner, network, n):
    """Calibrated weights for both sides, and the model."""
    model = model_of(network, runner.initial(), n)
    calibrate(model)
    return {name: value.numpy() for name, value in model.arrays.weights + model.arrays.buffers}, model


def compare(arrays, model, pictures, report):
    with torch.no_grad():
        output, decisions, margins = model.masked(pictures)
    ours = np.stack([value for name, value in arrays.items() if name.startswith("decision/")])
    theirs, margins = decisions.numpy(), margins.numpy()
    differ = ours != theirs
    agree = ~differ.any(axis=0)
    for sample in np.nonzero(~agree)[0]:
        gate = int(np.argmax(differ[:, sample]))
        margin = float(margins[gate, sample])
        report["near" if margin < 1e-6 else "wrong"].append((gate, margin))
    error = np.abs(arrays["output"] - output.numpy())[agree]
    size = np.abs(output.numpy()).max()
    report["error"] = max(report["error"], float(error.max() / size))
    report["samples"] += len(agree)
    report["taken"] += int((ours == 1).sum())
    report["reached"] += int((ours >= 0).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--network", choices=sorted(PROGRAMS), default="skipnet")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--inputs", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--one", type=int, default=20)
    parser.add_argument("--on", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    report = {"near": [], "wrong": [], "error": 0.0, "samples": 0, "taken": 0, "reached": 0}
    with tempfile.TemporaryDirectory() as folder:
        many = Runner(arguments.tbemc, folder, arguments.network, arguments.n, arguments.batch, arguments.on)
        weights, model = prepare(many, arguments.network, arguments.n)
        for start in range(0, arguments.inputs, arguments.batch):
            pictures = images(arguments.batch, 1 + start)
            _, arrays = many.run(weights, pictures)
            compare(arrays, model, pictures, report)
        one = Runner(arguments.tbemc, folder, arguments.network, arguments.n, 1, arguments.on)
        for i in range(arguments.one):
            picture = images(1, 10_000_000 + i)
            _, arrays = one.run(weights, picture)
            compare(arrays, model, picture, report)
    share = report["taken"] / report["reached"]
    print(f"{arguments.network}: {report['samples']} pictures, {share:.1%} of {report['reached']} decisions true; "
          f"{len(report['near'])} samples with a decision within 1e-6 of its threshold that differs, "
          f"{len(report['wrong'])} others; results within {report['error']:.2g}")
    for gate, margin in report["wrong"][:10]:
        print(f"BAD: a decision of gate {gate} differs at a margin of {margin:.3g}")
    if not 0.05 < share < 0.95:
        print("BAD: nearly all decisions are the same, so little is compared")
        return 1
    return 1 if report["wrong"] or report["error"] > 1e-4 else 0


if __name__ == "__main__":
    sys.exit(main())
