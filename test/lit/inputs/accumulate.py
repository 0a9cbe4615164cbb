#!/usr/bin/env python3
"""Steps over micro-batches against the same steps over the whole batch: the loss, the outputs, every gradient, weight and state of the
optimiser, dropout included, to rounding; batch normalisation against its definition, micro-batch by micro-batch; the arena that is
planned is the one that is touched, and falls as the parts grow.

usage: accumulate.py TBEMC FOLDER
"""
import json
import subprocess
import sys

import numpy as np

tbemc, folder = sys.argv[1:]
bad = 0

PROGRAM = """import std.text
network small(x: tensor[n, c]) -> tensor[n, 5] {
  return x |> dense(16) |> gelu |> dropout(p: 0.3) |> dense(16) |> tanh |> dropout(p: 0.2) |> dense(5)
}
network convolutions(x: tensor[n, c, h, w]) -> tensor[n, 10] {
  var y = x
  for i in 0 .. 3 as stage { y = y |> conv2d(out: 16, kernel: 3, pad: 1) |> silu |> avg_pool2d(kernel: 2) }
  return y |> flatten |> dense(10)
}
network normalised(x: tensor[n, c, h, w]) -> tensor[n, 10] { return x |> batch_norm |> flatten |> dense(10) }
"""
NETWORKS = {
    "small": ("small()", "x: [12, 6]"),
    "convolutions": ("convolutions()", "x: [12, 3, 16, 16]"),
    "gpt2": ("text.gpt2(vocab: 31, context: 8, layers: 2, width: 16, heads: 2, dropout: 0.1)", "tokens: [6, 8]"),
    "normalised": ("normalised()", "x: [12, 3, 8, 8]"),
}
OPTIMIZERS = ("sgd(lr: 0.1)", "sgd(lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.01)", "adam(lr: 0.01)", "adamw(lr: 0.01, clip_norm: 0.5)",
              "rmsprop(lr: 0.01, momentum: 0.9)", "adagrad(lr: 0.01)", "adam(lr: cosine(0.01, steps: 4, warmup: 1))")


def check(what, good, text):
    global bad
    bad += not good
    print(f"{'ok' if good else 'BAD'}: {what}: {text}")


def write(name, parts, optimizer="sgd(lr: 0.1, momentum: 0.9)", clause=""):
    network, shape = NETWORKS[name]
    path = f"{folder}/{name}.tbem"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{PROGRAM}design d of {network} {{\n  input {shape}\n  task train(loss: cross_entropy, optimizer: {optimizer})\n"
                   f"  accumulate {parts}\n  {clause}\n}}\nmeasure d {{\n  metric memory\n  repeat 1\n}}\n")
    return path


def lines(*arguments, planned=("--threads", "2", "--tune", "off")):
    done = subprocess.run([tbemc, *arguments, "--json", *planned], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def step(path, backend, dtype="f32", steps=2):
    saved = f"{folder}/step.npz"
    lines("step", path, "--on", backend, "--dtype", dtype, "--seed", "3", "--steps", str(steps), "--save", saved)
    data = np.load(saved)
    return {name: data[name].astype(np.float64) for name in data.files}


def difference(ours, theirs):
    """The largest of all arrays, over the norm of all that bear the same kind of name."""
    if ours.keys() != theirs.keys() or any(ours[name].shape != theirs[name].shape for name in ours):
        return float("inf")
    worst = 0
    for kind in {name.split("/")[0] for name in ours}:
        names = [name for name in ours if name.split("/")[0] == kind]
        norm = np.sqrt(sum((theirs[name] ** 2).sum() for name in names))
        worst = max(worst, np.sqrt(sum(((ours[name] - theirs[name]) ** 2).sum() for name in names)) / max(norm, 1e-300))
    return worst


def near(what, ours, theirs, bound):
    found = difference(ours, theirs)
    check(what, found <= bound, f"differs by {found:.1e} of at most {bound:.0e}")


for optimizer in OPTIMIZERS:
    whole = step(write("small", 1, optimizer), "ref", "f64")
    for parts in (2, 3, 12):
        near(f"small, {optimizer}, {parts} parts, f64 on ref", step(write("small", parts, optimizer), "ref", "f64"), whole, 1e-12)

for name in ("small", "convolutions", "gpt2"):
    for backend, dtype, bound in (("ref", "f64", 1e-12), ("cpu", "f32", 1e-5)):
        whole = step(write(name, 1), backend, dtype)
        for parts in (2, 6):
            near(f"{name}, {parts} parts, {dtype} on {backend}", step(write(name, parts), backend, dtype), whole, bound)
    # What is computed again is computed in its own micro-batch.
    kept = step(write(name, 2), "cpu")
    again = step(write(name, 2, clause="checkpoint auto"), "cpu")
    check(f"{name}, checkpoint", difference(again, kept) == 0, "bit for bit")
near("convolutions, mixed bf16", step(write("convolutions", 3, clause="mixed bf16"), "ref"), step(write("convolutions", 1, clause="mixed bf16"), "ref"), 2e-2)


def normalised(arrays, parts):
    """Running statistics after a step: momentum 0.1, and the variance of the population estimated from each micro-batch."""
    x = arrays["input/x"]
    mean, variance = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for part in np.split(x, parts):
        count = part.size // part.shape[1]
        mean = 0.9 * mean + 0.1 * part.mean(axis=(0, 2, 3))
        variance = 0.9 * variance + 0.1 * part.var(axis=(0, 2, 3)) * count / (count - 1)
    return mean, variance


for parts in (1, 3, 4):
    arrays = step(write("normalised", parts), "ref", "f64", 1)
    found = [value for name, value in arrays.items() if "running" in name]
    good = all(any(np.allclose(value, wanted, rtol=1e-12, atol=1e-14) for value in found) for wanted in normalised(arrays, parts))
    check(f"normalised, {parts} parts", good, "running statistics go from micro-batch to micro-batch")

for name, parts in (("convolutions", (1, 2, 4)), ("gpt2", (1, 3)), ("normalised", (2,))):
    arenas, flops = [], []
    for k in parts:
        path = write(name, k)
        for backend in ("ref", "cpu"):
            rows = [row for row in lines("measure", path, "--on", backend, "--fresh", "--quiet") if row["kind"] == "measure"]
            check(f"{name}, {k} parts, {backend}", rows and all(row["status"] == "ok" and row["arena_peak"] == row["arena_planned"] for row in rows), "arena planned = touched")
        row = lines("estimate", path, "--on", "cpu")[0]
        none = lines("estimate", path, "--on", "none", planned=())[0]
        arenas.append(row["memory"]["kinds"]["activations"])
        flops.append(row["flops"]["forward"] + row["flops"]["backward"])
        check(f"{name}, {k} parts", none["flops"] == row["flops"] and none["memory"]["static"] == row["memory"]["static"], "the same from shapes alone")
    check(name, all(a > b for a, b in zip(arenas, arenas[1:])), f"activations fall: {arenas}")
    # Sums of gradients, of biases among them, are the difference.
    check(name, all(abs(one / flops[0] - 1) < 0.05 for one in flops), "as many FLOPs but for the sums")
sys.exit(1 if bad else 0)
