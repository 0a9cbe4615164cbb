#!/usr/bin/env python3
"""A training held against PyTorch, step by step, in f64.

usage: compare_training.py make FOLDER       writes the examples (x.npy, y.npy, x_test.npy, y_test.npy)
       compare_training.py compare FOLDER    reads begin.npz (the weights at the start), told.json (what the training said) and its
                                             checkpoint, and does the same training in PyTorch

The order of the examples is computed here from its definition (runtime/train/Order.h): Philox4x32-10 and Fisher & Yates' shuffle.
"""
import json
import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lit", "inputs"))
from philox import shuffled
from safetensors_file import read

SEED, BATCH, EPOCHS, HELD = 5, 16, 4, 0.2


def make(folder):
    random = np.random.default_rng(1)
    centres = random.normal(size=(5, 3, 8, 8))
    for suffix, count in (("", 100), ("_test", 40)):
        labels = random.integers(0, 5, size=count)
        images = centres[labels] + random.normal(size=(count, 3, 8, 8))
        np.save(os.path.join(folder, f"x{suffix}.npy"), images.astype(np.float32))
        np.save(os.path.join(folder, f"y{suffix}.npy"), labels.astype(np.int64))


def checkpoint(path):
    return {name: np.frombuffer(data, {"F64": "<f8"}[dtype]).reshape(shape) for name, (dtype, shape, data) in read(path).items()}


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def compare(folder):
    import torch
    import torch.nn.functional as F

    load = lambda name: np.load(os.path.join(folder, name))
    x, y = torch.tensor(load("x.npy"), dtype=torch.float64), torch.tensor(load("y.npy"))
    x_test, y_test = torch.tensor(load("x_test.npy"), dtype=torch.float64), torch.tensor(load("y_test.npy"))
    begin = load("begin.npz")
    weights = {name[len("weight/"):]: torch.tensor(begin[name], requires_grad=True) for name in begin.files if name.startswith("weight/")}
    buffers = {name[len("buffer/"):]: torch.tensor(begin[name]) for name in begin.files if name.startswith("buffer/")}
    conv, norm = "conv_bn_relu.conv2d.weight", "conv_bn_relu.batch_norm."

    def forward(images, training):
        out = F.conv2d(images, weights[conv], padding=1)
        out = F.batch_norm(out, buffers[norm + "running_mean"], buffers[norm + "running_variance"], weights[norm + "weight"],
                           weights[norm + "bias"], training=training, momentum=0.1, eps=1e-5)
        out = F.max_pool2d(F.relu(out), 2)
        out = F.relu(F.conv2d(out, weights["conv2d.weight"], weights["conv2d.bias"]))
        return F.linear(out.flatten(1), weights["dense.weight"], weights["dense.bias"])

    def score(images, labels):
        with torch.no_grad():
            output = forward(images, False)
            return F.cross_entropy(output, labels).item(), (output.argmax(1) == labels).double().mean().item()

    held = sorted(shuffled(SEED, 0xFFFFFFFF, len(x))[: math.floor(HELD * len(x))])
    learned = sorted(set(range(len(x))) - set(held))
    steps = len(learned) // BATCH
    optimizer = torch.optim.SGD(weights.values(), lr=0.05, momentum=0.9, weight_decay=0.001)
    losses, validations = [], []
    for epoch in range(EPOCHS):
        order = shuffled(SEED, epoch, len(learned))
        for at in range(steps):
            step = epoch * steps + at
            warmup, total, floor = steps, EPOCHS * steps, 0.1
            factor = (step + 1) / warmup if step + 1 < warmup else floor + (1 - floor) * (1 + math.cos(math.pi * max(0, step - warmup) / (total - warmup))) / 2
            optimizer.param_groups[0]["lr"] = 0.05 * factor
            examples = [learned[i] for i in order[at * BATCH : (at + 1) * BATCH]]
            optimizer.zero_grad()
            loss = F.cross_entropy(forward(x[examples], True), y[examples])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        validations.append(score(x[held], y[held]))
    test = score(x_test, y_test)

    told = [json.loads(line) for line in open(os.path.join(folder, "told.json"), encoding="utf-8")]
    ours = [each["loss"] for each in told if each["kind"] == "train_step"]
    epochs = [each for each in told if each["kind"] == "train"]
    end = told[-1]
    assert len(ours) == len(losses) == 20, (len(ours), len(losses))
    worst = max(abs(a - b) / b for a, b in zip(ours, losses))
    assert worst <= 1e-9, (worst, ours, losses)
    print(f"20 steps: losses agree ({worst:.1e}), from {losses[0]:.4f} to {losses[-1]:.4f}")
    assert len(epochs) == len(validations) == 4
    for each, (loss, accuracy) in zip(epochs, validations):
        assert near(each["validation_loss"], loss), (each, loss)
        assert each["validation_accuracy"] == accuracy, (each, accuracy)
    assert near(end["test_loss"], test[0]) and end["test_accuracy"] == test[1], (end, test)
    print(f"{len(epochs)} validations and the test agree (test loss {test[0]:.4f}, accuracy {test[1]:.3f})")
    kept = checkpoint(os.path.join(folder, "training.out", "net_on_examples.safetensors"))
    for group, values in (("weight/", weights), ("buffer/", buffers)):
        for name, value in values.items():
            mine, theirs = kept[group + name], value.detach().numpy()
            assert np.linalg.norm(mine - theirs) <= 1e-9 * np.linalg.norm(theirs), name
    print("weights and running statistics agree")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
