#!/usr/bin/env python3
"""Holds training steps of networks with gates against PyTorch: the same weights, pictures and labels, ten steps in f64.

usage: gated_training.py [--tbemc PATH] [--steps 10]

A `skip` is a mixture of its arms there, by SkipNet's straight-through gate, by the gate's own score, or drawn with the same random numbers
(Philox4x32-10, counted as runtime/core/Philox.h says); an exit's result has a loss of its own. Weights and running statistics after the steps agree to 1e-9 of the norm of all of them, the last loss to 1e-9 of itself.
Exits with 1 where one does not.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

from compare_step import load
from gated_models import Arrays, ConvNorm, ShallowDeep, SkipNet
from philox import philox

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPNET = "import std.adaptive: skipnet\ndesign d of skipnet(n: 2) {{\n  input image: [6, 3, 16, 16]\n"
SHALLOW = ("import std.adaptive: shallow_deep\nimport std.nn: conv_bn_relu\n"
           "design d of shallow_deep(stages: [conv_bn_relu(out: 8), conv_bn_relu(out: 12, stride: 2), conv_bn_relu(out: 16)]) {{\n"
           "  input image: [5, 3, 16, 16]\n")
TASK = "  dtype f64\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.05, momentum: 0.9){})\n}}\n"


def skipnet(arrays):
    return SkipNet(arrays, n=2)


def shallow(arrays):
    return ShallowDeep(arrays, [8, 12, 16], [1, 2, 1])


def straight_through(score, threshold, _, __):
    return ((score > threshold).to(score.dtype) - score).detach() + score


def soft(score, *_):
    return score


def gumbel(temperature):
    def share_of(score, _, unit, step):
        u = torch.tensor(uniform(f"unit[{unit}].gumbel_share.uniform_noise", step, len(score)), dtype=score.dtype)
        relaxed = torch.sigmoid((torch.logit(score) + torch.logit(u)) / temperature)
        return ((relaxed > 0.5).to(score.dtype) - relaxed).detach() + relaxed
    return share_of


def uniform(path, step, count):
    """What `random()` of the operator at this path draws in a step, counted from 1, with seed 0."""
    stream = 0xCBF29CE484222325  # FNV-1a of the path
    for byte in path.encode():
        stream = (stream ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return [(philox([i, 0, step, stream & 0xFFFFFFFF], [stream >> 32, 0])[0] >> 8) * 2.0**-24 for i in range(count)]


def by(share_of):
    """The results of SkipNet at a step, with gates of this kind."""
    return lambda model, x, step: model.trained(x, lambda score, threshold, unit: share_of(score, threshold, unit, step))


def exits(model, x, _):
    return model.trained(x)


# name, program, what `train` has beside, model, how its results are computed, their weights
CASES = [
    ("straight-through skips", SKIPNET, "", skipnet, by(straight_through), [1]),
    ("soft skips", SKIPNET, ", gates: soft", skipnet, by(soft), [1]),
    ("drawn skips", SKIPNET, ", gates: gumbel(temperature: 0.5)", skipnet, by(gumbel(0.5)), [1]),
    ("exits", SHALLOW, "", shallow, exits, [1, 1, 1]),
    ("weighted exits", SHALLOW, ", exits: [0.25, 0, 1]", shallow, exits, [0.25, 0, 1]),
]


def train(arrays, build, results, weights, steps):
    """The loss of the last step; the model's weights and statistics, as leaves of `arrays`, are moved."""
    model = build(arrays)
    leaves = [value for _, value in arrays.weights]
    optimizer = torch.optim.SGD(leaves, lr=0.05, momentum=0.9)
    loss = None
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = sum(w * F.cross_entropy(y, arrays.target) for w, y in zip(weights, results(model, arrays.image, step)) if w != 0)
        loss.backward()
        optimizer.step()
    return loss.item()


def distance(saved, group, tensors):
    """Of all tensors; one that the file has not after the steps did not move."""
    theirs = torch.cat([value.detach().flatten() for _, value in tensors])
    names = [(name, name.replace(name.split("/")[0], group, 1)) for name, _ in tensors]
    assert sum(after in saved for _, after in names) == sum(name.startswith(group + "/") for name in saved)
    ours = torch.cat([torch.tensor(saved.get(after, saved[name])).flatten() for name, after in names])
    return ((ours - theirs).norm() / theirs.norm()).item()


def compare(tbemc, folder, case, steps):
    name, program, task, build, results, weights = case
    source, saved_path = folder / "gated.tbem", folder / "saved.npz"
    source.write_text((program + TASK).format(task))
    subprocess.run([tbemc, "step", str(source), "--on", "ref", "--steps", str(steps), "--save", str(saved_path), "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    saved = load(saved_path)
    arrays = Arrays(saved, torch.float64)
    arrays.image, arrays.target = torch.tensor(saved["input/image"]), torch.tensor(saved["target"]).long()
    for _, value in arrays.weights:
        value.requires_grad_(True)
    loss = train(arrays, build, results, weights, steps)
    found = {
        "loss": abs(float(saved["loss"]) - loss) / abs(loss),
        "weights": distance(saved, "after", arrays.weights),
        "statistics": distance(saved, "buffer_after", arrays.buffers),
    }
    bad = any(not value <= 1e-9 for value in found.values())
    print(f"{'BAD' if bad else 'ok'}: {name}, {steps} steps: " + ", ".join(f"{what} {value:.1e}" for what, value in found.items()))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    ConvNorm.training = True
    with tempfile.TemporaryDirectory() as folder:
        bad = [compare(options.tbemc, pathlib.Path(folder), case, options.steps) for case in CASES]
    if any(bad):
        sys.exit(1)
    print(f"{len(CASES)} trainings agree")


if __name__ == "__main__":
    main()
