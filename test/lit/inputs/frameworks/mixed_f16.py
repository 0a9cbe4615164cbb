#!/usr/bin/env python3
"""A training in f16, whose loss is scaled, held against PyTorch's autocast and GradScaler on the processor.

usage: mixed_f16.py make FOLDER       writes the examples (x.npy, y.npy)
       mixed_f16.py compare FOLDER    reads begin.npz (the weights at the start), told.json (what the training said) and its
                                      checkpoint, and does the same training in PyTorch
"""
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "..", "pytorch")]
from philox import shuffled
from safetensors_file import read

SEED, EPOCHS, COUNT = 5, 105, 40


def make(folder):
    random = np.random.default_rng(1)
    labels = random.integers(0, 4, COUNT)
    # Below 1 as the layers between are, so that no gradient of a weight, which PyTorch rounds to f16, overflows where the gradient that
    # goes back does not.
    examples = np.tanh(random.normal(size=(4, 6))[labels] + random.normal(size=(COUNT, 6)))
    np.save(os.path.join(folder, "x.npy"), examples.astype(np.float32))
    np.save(os.path.join(folder, "y.npy"), labels)


def compare(folder):
    import torch
    import torch.nn.functional as F

    x, y = (torch.tensor(np.load(os.path.join(folder, name))) for name in ("x.npy", "y.npy"))
    begin = np.load(os.path.join(folder, "begin.npz"))
    weights = {name[len("weight/"):]: torch.tensor(begin[name], requires_grad=True) for name in begin.files if name.startswith("weight/")}
    optimizer = torch.optim.Adam(weights.values(), lr=0.001)
    scaler = torch.amp.GradScaler("cpu")
    losses, scales = [], []
    for epoch in range(EPOCHS):
        order = shuffled(SEED, epoch, COUNT)
        for example in order:
            examples = [example]
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                out = torch.tanh(F.linear(x[examples], weights["dense.weight"], weights["dense.bias"]))
                out = F.linear(out, weights["dense_2.weight"], weights["dense_2.bias"])
            loss = 16 * F.cross_entropy(out.float(), y[examples])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
            scales.append(scaler.get_scale())

    told = [json.loads(line) for line in open(os.path.join(folder, "told.json"), encoding="utf-8")]
    ours = [each["loss"] for each in told if each["kind"] == "train_step"]
    assert len(ours) == len(losses), (len(ours), len(losses))
    worst = max(abs(a - b) / max(b, 0.1) for a, b in zip(ours[:200], losses))
    assert worst <= 0.02, (worst, ours[:20], losses[:20])
    print(f"{len(losses)} steps: the first 200 losses agree ({worst:.1e}), from {losses[0]:.4f} to {losses[199]:.4f}")
    kept = {name: np.frombuffer(data, "<f4") for name, (_, _, data) in read(os.path.join(folder, "mixed_f16.out", "net_in_f16.safetensors")).items()}
    state = {name: kept[f"state/dense.weight.{name}"].item() for name in ("loss_scale", "good_steps", "taken_steps")}
    theirs = scaler.state_dict()
    taken = int(optimizer.state[weights["dense.weight"]]["step"].item())
    assert state == {"loss_scale": theirs["scale"], "good_steps": theirs["_growth_tracker"], "taken_steps": taken}, (state, theirs, taken)
    grew = any(after > before for before, after in zip(scales, scales[1:]))
    assert grew and min(scales) < 65536 and taken < len(losses), (grew, min(scales), taken)
    print(f"scales agree: down to {min(scales):.0f}, at the end {scales[-1]:.0f}; {len(losses) - taken} steps moved nothing")
    for name, value in weights.items():
        mine, their = kept["weight/" + name], value.detach().numpy().ravel()
        assert np.linalg.norm(mine - their) <= 0.02 * np.linalg.norm(their - begin["weight/" + name].ravel()), name
    print("weights agree")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
