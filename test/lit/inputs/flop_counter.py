#!/usr/bin/env python3
"""Multiply-adds of networks, forward and backward, against what PyTorch's FlopCounterMode counts (flop_counter.json, written by
test/pytorch/flop_counter.py). usage: flop_counter.py TBEMC DATA.json"""
import json
import subprocess
import sys

truth, bad = json.load(open(sys.argv[2])), 0
for row in truth["rows"]:
    shape = f"image={row['batch']},3,{row['size']},{row['size']}"
    out = subprocess.run([sys.argv[1], "estimate", "-e", row["network"], "--input", shape, "--json", "--task",
                          "train(loss: cross_entropy, optimizer: sgd(lr: 0.01))"], check=True, stdout=subprocess.PIPE, text=True).stdout
    operators = json.loads(out.splitlines()[-1])["flops"]["by_operator"].values()
    for way in ("forward", "backward"):
        ours = sum(operator[f"mac_flops_{way}"] for operator in operators)
        if ours != row[way]:
            print("BAD", row["network"], way, ours, row[way])
            bad += 1
print(f"{len(truth['rows'])} networks as torch {truth['torch'].split('+')[0]} counts them" if not bad else f"{bad} differ")
