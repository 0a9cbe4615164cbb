#!/usr/bin/env python3
"""Holds training steps of networks with gates against PyTorch: the same weights, pictures and labels, ten steps in f64.

usage: gated_training.py [--tbemc PATH] [--steps 10]

A `skip` is a mixture of its arms there, by SkipNet's straight-through gate, by the gate's own score, or drawn with the same random numbers
(Philox4x32-10, counted as runtime/core/Philox.h says), and then moved by what it is a limit of or by a reward; an exit's result has a loss
of its own. Weights and running statistics after the steps agree to 1e-9 of the norm of all of them, the last loss to 1e-9 of itself.
Exits with 1 where one does not.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

from compare_step import load
from gated_models import Arrays, ConvNorm, DynConv, ShallowDeep, SkipNet
from philox import philox

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPNET = "import std.adaptive: skipnet, blocks_saved, few_blocks\ndesign d of skipnet(n: 2) {{\n  input image: [6, 3, 16, 16]\n"
SHALLOW = ("import std.adaptive: shallow_deep\nimport std.nn: conv_bn_relu\n"
           "design d of shallow_deep(stages: [conv_bn_relu(out: 8), conv_bn_relu(out: 12, stride: 2), conv_bn_relu(out: 16)]) {{\n"
           "  input image: [5, 3, 16, 16]\n")
DYNCONV = "import std.adaptive: dynconv, spatial_budget\ndesign d of dynconv(n: 1) {{\n  input image: [4, 3, 8, 8]\n"
TASK = "  dtype f64\n  task train(loss: {}, optimizer: sgd(lr: 0.05, momentum: 0.9){})\n}}\n"


def skipnet(arrays):
    return SkipNet(arrays, n=2)


def shallow(arrays):
    return ShallowDeep(arrays, [8, 12, 16], [1, 2, 1])


def straight_through(score, threshold, _, __):
    return ((score > threshold).to(score.dtype) - score).detach() + score


def soft(score, *_):
    return score


def gumbel(temperature, block=""):
    """`block`: the path of the gate in its unit."""
    def share_of(score, _, unit, step):
        u = torch.tensor(uniform(f"unit[{unit}].{block}gumbel_share.uniform_noise", step, len(score)), dtype=score.dtype)
        relaxed = torch.sigmoid((torch.logit(score) + torch.logit(u)) / temperature)
        return ((relaxed > 0.5).to(score.dtype) - relaxed).detach() + relaxed
    return share_of


def reinforce(reward, weight, is_self_critical=False):
    """The loss of the step with SkipNet's gates drawn, and each moved by the reward of what it drew; less, where that is asked for, what
    the network earns as it is at inference."""
    def loss_of(model, arrays, step):
        chances, shares = [], []

        def share_of(score, _, unit):
            u = torch.tensor(uniform(f"unit[{unit}].drawn_share.uniform_noise", step, len(score)), dtype=score.dtype)
            share = (score + u > 1).to(score.dtype)
            chances.append(torch.log(torch.where(share > 0.5, score, 1 - score)))
            shares.append(share)
            return share.detach()

        def at_inference(model, arrays):
            decided = []

            def decision_of(score, threshold, _):
                decided.append((score > threshold).to(score.dtype))
                return decided[-1]

            ConvNorm.training = False
            with torch.no_grad():
                result, = model.trained(arrays.image, decision_of)
            ConvNorm.training = True
            return reward(torch.stack(decided, 1), result, arrays.target)

        result, = model.trained(arrays.image, share_of)
        rewards = reward(torch.stack(shares, 1), result.detach(), arrays.target)
        if is_self_critical:
            rewards = rewards - at_inference(model, arrays)
        return F.cross_entropy(result, arrays.target) - weight * (rewards * torch.stack(chances, 1)).sum(1).mean()
    return loss_of


def places(theta, slack, over=None):
    """The loss of dynamic convolutions, whose masks are drawn. With a number of steps `over`, bounds widen within them."""
    def loss_of(model, arrays, step):
        hold = slack if over is None else slack * math.cos(min(1, (step - 1) / over) * math.pi / 2) ** 2
        draw = gumbel(1.0, "dynamic_unit.")
        result, shares = model.trained(arrays.image, lambda p, unit: draw(p, None, unit, step))
        own = shares.mean(0)
        outside = F.relu(own - (1 - hold * (1 - theta))).square().mean() + F.relu(hold * theta - own).square().mean()
        return F.cross_entropy(result, arrays.target) + 10 * ((own.mean() - theta) ** 2 + outside)
    return loss_of


def blocks_saved(alpha):
    """SkipNet's: the blocks that are left out from a gate on, and the likelihood of the label."""
    def reward(shares, result, target):
        behind = (1 - shares).flip(1).cumsum(1).flip(1)
        return alpha / shares.shape[1] * behind - F.cross_entropy(result, target, reduction="none")[:, None]
    return reward


def few_blocks(penalty, centred=True):
    """BlockDrop's; where it is centred, minus its mean over the batch."""
    def reward(shares, result, target):
        own = torch.where(result.argmax(1) == target, 1 - shares.mean(1) ** 2, -penalty)
        return (own - own.mean() if centred else own)[:, None].expand_as(shares)
    return reward


def uniform(path, step, count):
    """What `random()` of the operator at this path draws in a step, counted from 1, with seed 0."""
    stream = 0xCBF29CE484222325  # FNV-1a of the path
    for byte in path.encode():
        stream = (stream ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return [(philox([i, 0, step, stream & 0xFFFFFFFF], [stream >> 32, 0])[0] >> 8) * 2.0**-24 for i in range(count)]


def by(share_of):
    """The loss of SkipNet at a step, with gates of this kind."""
    def loss_of(model, arrays, step):
        result, = model.trained(arrays.image, lambda score, threshold, unit: share_of(score, threshold, unit, step))
        return F.cross_entropy(result, arrays.target)
    return loss_of


def dynconv(arrays):
    return DynConv(arrays)


def exits(*weights):
    """The loss of a network with exits, of so much of each result's."""
    def loss_of(model, arrays, _):
        return sum(w * F.cross_entropy(y, arrays.target) for w, y in zip(weights, model.trained(arrays.image)) if w != 0)
    return loss_of


REWARDED = ", gates: reinforce(reward: {}, weight: {})"
CROSS = "cross_entropy"
# name, program, loss, what `train` has beside it, model, the loss there
CASES = [
    ("straight-through skips", SKIPNET, CROSS, "", skipnet, by(straight_through)),
    ("soft skips", SKIPNET, CROSS, ", gates: soft", skipnet, by(soft)),
    ("drawn skips", SKIPNET, CROSS, ", gates: gumbel(temperature: 0.5)", skipnet, by(gumbel(0.5))),
    ("rewarded skips", SKIPNET, CROSS, REWARDED.format("blocks_saved(alpha: 0.5)", 0.2), skipnet, reinforce(blocks_saved(0.5), 0.2)),
    ("rewarded skips, all alike", SKIPNET, CROSS, REWARDED.format("few_blocks(penalty: 2)", 1), skipnet, reinforce(few_blocks(2.0), 1)),
    ("rewarded skips, beside inference", SKIPNET, CROSS, REWARDED.format("few_blocks(penalty: 2, centred: false)", "1, baseline: likeliest"),
     skipnet, reinforce(few_blocks(2.0, False), 1, True)),
    ("drawn places", DYNCONV, "spatial_budget(theta: 0.2, slack: 0.9)", ", gates: gumbel", dynconv, places(0.2, 0.9)),
    ("drawn places, bounds that widen", DYNCONV, "spatial_budget(theta: 0.2, slack: 0.9, over: 8)", ", gates: gumbel", dynconv, places(0.2, 0.9, 8)),
    ("exits", SHALLOW, CROSS, "", shallow, exits(1, 1, 1)),
    ("weighted exits", SHALLOW, CROSS, ", exits: [0.25, 0, 1]", shallow, exits(0.25, 0, 1)),
]


def train(arrays, build, loss_of, steps):
    """The loss of the last step; the model's weights and statistics, as leaves of `arrays`, are moved."""
    model = build(arrays)
    leaves = [value for _, value in arrays.weights]
    optimizer = torch.optim.SGD(leaves, lr=0.05, momentum=0.9)
    loss = None
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = loss_of(model, arrays, step)
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
    name, program, loss_text, task, build, loss_of = case
    source, saved_path = folder / "gated.tbem", folder / "saved.npz"
    source.write_text((program + TASK).format(loss_text, task))
    subprocess.run([tbemc, "step", str(source), "--on", "ref", "--steps", str(steps), "--save", str(saved_path), "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    saved = load(saved_path)
    arrays = Arrays(saved, torch.float64)
    arrays.image, arrays.target = torch.tensor(saved["input/image"]), torch.tensor(saved["target"]).long()
    for _, value in arrays.weights:
        value.requires_grad_(True)
    loss = train(arrays, build, loss_of, steps)
    found = {
        "loss": abs(float(saved["loss"]) - loss) / abs(loss),
        "weights": distance(saved, "after", arrays.weights),
        "statistics": distance(saved, "buffer_after", arrays.buffers),
    }
    bad = any(not value <= 1e-9 for value in found.values())
    print(f"{'BAD' if bad else 'ok'}: {name}, {steps} steps: " + ", ".join(f"{what} {value:.1e}" for what, value in found.items()))
    return bad


def compare_places(tbemc, folder):
    """Dynamic convolutions at inference, where what is outside a mask is not computed."""
    source, saved_path = folder / "places.tbem", folder / "places.npz"
    source.write_text((DYNCONV + "  dtype f64\n}}\n").format())
    subprocess.run([tbemc, "step", str(source), "--on", "cpu", "--dtype", "f32", "--save", str(saved_path), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    saved = load(saved_path)
    arrays = Arrays(saved, torch.float64)
    ConvNorm.training = False
    logits, shares, margin = DynConv(arrays).masked(torch.tensor(saved["input/image"], dtype=torch.float64))
    ConvNorm.training = True
    outputs = [torch.tensor(saved[name], dtype=torch.float64) for name in sorted(saved) if name.startswith("output")]
    apart = max((ours - theirs).abs().max().item() for ours, theirs in zip(outputs, (logits, shares)))
    computed = shares.mean().item()
    bad = len(outputs) != 2 or not apart <= 1e-4 or margin < 1e-6 or not 0.05 < computed < 0.95
    print(f"{'BAD' if bad else 'ok'}: places at inference, {computed:.1%} computed: {apart:.1e} apart")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    ConvNorm.training = True
    with tempfile.TemporaryDirectory() as folder:
        bad = [compare(options.tbemc, pathlib.Path(folder), case, options.steps) for case in CASES]
        bad.append(compare_places(options.tbemc, pathlib.Path(folder)))
    if any(bad):
        sys.exit(1)
    print(f"{len(CASES)} trainings agree, and places at inference")


if __name__ == "__main__":
    main()
