#!/usr/bin/env python3
"""Steps of three networks with activations computed again, against the same steps with everything kept: the loss, every gradient,
every weight and every running statistic bit for bit; the arena that is planned is the one that is touched.

usage: checkpoint.py TBEMC FOLDER
"""
import json
import subprocess
import sys

import numpy as np

tbemc, folder = sys.argv[1:]
bad = 0

NETWORKS = {
    # batch normalisation and shortcuts
    "resnet": ("vision.cifar_resnet(depth: 20)", "image: [4, 3, 32, 32]", "sgd(lr: 0.1, momentum: 0.9)", "stage[1]"),
    # batch normalisation, operators outside of blocks
    "vgg": ("vision.small_vgg(depth: 11, width: 4)", "image: [4, 3, 32, 32]", "sgd(lr: 0.1)", "batch_norm"),
    # dropout in every layer, weights used twice
    "gpt2": ("text.gpt2(vocab: 97, context: 16, layers: 3, width: 32, heads: 4, dropout: 0.1)", "tokens: [8, 16]", "adam(lr: 0.001)",
             "layer[1].transformer_layer"),
}


def check(what, good, text):
    global bad
    bad += not good
    print(f"{'ok' if good else 'BAD'}: {what}: {text}")


def write(name, clause):
    network, shape, optimizer, _ = NETWORKS[name]
    path = f"{folder}/{name}.tbem"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"import std.vision\nimport std.text\ndesign d of {network} {{\n  input {shape}\n"
                   f"  task train(loss: cross_entropy, optimizer: {optimizer})\n  {clause}\n}}\n"
                   "measure d {\n  metric memory\n  repeat 1\n}\n")
    return path


def lines(*arguments):
    done = subprocess.run([tbemc, *arguments, "--json", "--threads", "2", "--tune", "off"], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def step(path, backend):
    saved = f"{folder}/step.npz"
    lines("step", path, "--on", backend, "--seed", "3", "--steps", "2", "--save", saved)
    data = np.load(saved)
    return {name: data[name] for name in data.files}


def same(a, b):
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def arena_is_touched(path, backend):
    rows = [row for row in lines("measure", path, "--on", backend, "--fresh", "--quiet") if row["kind"] == "measure"]
    return rows and all(row["status"] == "ok" and row["arena_peak"] == row["arena_planned"] for row in rows)


for name, (_, _, _, place) in NETWORKS.items():
    path = write(name, "")
    kept = {backend: step(path, backend) for backend in ("ref", "cpu")}
    whole = lines("estimate", path, "--on", "cpu")[0]
    # Between everything kept and what the compiler chooses by itself: how far that is depends on the processor's layouts.
    chosen = lines("estimate", write(name, "checkpoint auto"), "--on", "cpu")[0]
    limit = (whole["memory"]["arena"] + chosen["memory"]["arena"]) // 2 // 1024
    for clause in ("checkpoint all", f"checkpoint {place}", f"checkpoint auto(under: {limit} KiB)", "checkpoint auto"):
        path = write(name, clause)
        row = lines("estimate", path, "--on", "cpu")[0]
        told, flops = row["checkpoint"], row["flops"]
        sums = (flops["forward"] == whole["flops"]["forward"] and flops["backward"] == whole["flops"]["backward"]
                and flops["recomputed"] == told["flops"] > 0 and flops["step"] == whole["flops"]["step"] + told["flops"]
                and told["flops"] == sum(block["flops"] for block in told["blocks"]))
        check(f"{name}, {clause}", sums, "FLOPs of the repetitions are a line of their own")
        if "auto" in clause:
            check(f"{name}, {clause}", told["arena_kept"] == whole["memory"]["arena"] > told["arena"] == row["memory"]["arena"],
                  "the arena is lower")
        if "under" in clause:
            check(f"{name}, {clause}", told["arena"] <= limit * 1024, "the arena fits under the limit")
            # A step that is saved keeps all gradients.
            path = write(name, f"checkpoint auto(under: {limit + whole['memory']['kinds']['weights'] // 1024} KiB)")
        for backend in ("ref", "cpu"):
            check(f"{name}, {clause}", same(step(path, backend), kept[backend]), f"bit for bit on {backend}")
    check(name, arena_is_touched(path, "cpu") and arena_is_touched(path, "ref"), "arena planned = touched")
sys.exit(1 if bad else 0)
