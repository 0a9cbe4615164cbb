#!/usr/bin/env python3
"""Two networks trained in turn, held against PyTorch, step by step, in f64.

usage: compare_turns.py make FOLDER       writes the examples (noise.npy, real.npy, ones.npy)
       compare_turns.py compare FOLDER    reads begin.npz (the weights at the start), told.json (what the training said) and its
                                          checkpoint, and does the same training in PyTorch
"""
import json
import math
import os
import sys

import numpy as np

from compare_training import checkpoint, near
from philox import shuffled

SEED, BATCH, EPOCHS = 5, 16, 4


def make(folder):
    random = np.random.default_rng(1)
    np.save(os.path.join(folder, "noise.npy"), random.normal(size=(80, 4)).astype(np.float32))
    real = np.stack([np.cos(angles := random.uniform(0, 6.28, 80)), np.sin(angles), np.full(80, 0.5)], axis=1)
    np.save(os.path.join(folder, "real.npy"), real.astype(np.float32))
    np.save(os.path.join(folder, "ones.npy"), np.ones((80, 1), np.float32))


def compare(folder):
    import torch
    import torch.nn.functional as F

    noise, real = (torch.tensor(np.load(os.path.join(folder, name)), dtype=torch.float64) for name in ("noise.npy", "real.npy"))
    begin = np.load(os.path.join(folder, "begin.npz"))
    weights = {name[len("weight/"):]: torch.tensor(begin[name], requires_grad=True) for name in begin.files if name.startswith("weight/")}

    def layer(path, x):
        return F.linear(x, weights[path + ".weight"], weights[path + ".bias"])

    def fake(examples):
        return layer("generator.dense_2", F.relu(layer("generator.dense", noise[examples])))

    def said(x):
        return layer("discriminator.dense_2", F.leaky_relu(layer("discriminator.dense", x), 0.2))

    of = lambda network: [value for name, value in weights.items() if name.startswith(network)]
    generator = torch.optim.SGD(of("generator"), lr=0.05, momentum=0.9)
    discriminator = torch.optim.Adam(of("discriminator"), lr=0.01)
    assert len(of("generator")) == len(of("discriminator")) == 4
    steps = len(noise) // BATCH
    losses, turns = [], []
    for epoch in range(EPOCHS):
        order, told = shuffled(SEED, epoch, len(noise)), []
        for at in range(steps):
            examples = order[at * BATCH : (at + 1) * BATCH]
            factor = 0.1 + 0.9 * (1 + math.cos(math.pi * (epoch * steps + at) / (EPOCHS * steps))) / 2
            for optimizer, rate in ((generator, 0.05), (discriminator, 0.01)):
                optimizer.param_groups[0]["lr"] = rate * factor
            both = []
            for _ in range(2):
                discriminator.zero_grad()
                loss = said(fake(examples).detach()).square().mean() + (said(real[examples]) - 1).square().mean()
                loss.backward()
                discriminator.step()
                both.append(loss.item())
            told.append(sum(both) / 2)
            generator.zero_grad()
            loss = (said(fake(examples)) - 1).square().mean()
            loss.backward()
            generator.step()
            losses.append(loss.item())
        turns.append(sum(told) / steps)

    told = [json.loads(line) for line in open(os.path.join(folder, "told.json"), encoding="utf-8")]
    ours = [each["loss"] for each in told if each["kind"] == "train_step"]
    assert len(ours) == len(losses) == 20, (len(ours), len(losses))
    worst = max(abs(a - b) / b for a, b in zip(ours, losses))
    assert worst <= 1e-9, (worst, ours, losses)
    print(f"20 steps: losses agree ({worst:.1e}), from {losses[0]:.4f} to {losses[-1]:.4f}")
    epochs = [each["turns"] for each in told if each["kind"] == "train"]
    assert len(epochs) == EPOCHS and all(len(each) == 1 and near(each[0], theirs) for each, theirs in zip(epochs, turns)), (epochs, turns)
    print(f"{EPOCHS} epochs: the turn's losses agree, {turns[-1]:.4f} at the end")
    kept = checkpoint(os.path.join(folder, "turns.out", "gan.safetensors"))
    for name, value in weights.items():
        mine, theirs = kept["weight/" + name], value.detach().numpy()
        assert np.linalg.norm(mine - theirs) <= 1e-9 * np.linalg.norm(theirs), name
    print("weights agree")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
