#!/usr/bin/env python3
"""Trainings of networks with gates: losses fall, and what the test says of gates and FLOPs agrees with the estimate.

usage: gated_training.py TBEMC FOLDER, with its train.tbem

The estimate expects so many FLOPs of an example where each gate's condition holds with the share that the test saw; the test's loss is not
in it, so 1 % may be missing.
"""
import json
import subprocess
import sys

NETWORKS = {
    "hard": "skipping()",
    "soft": "skipping()",
    "exits": "two_exits()",
}


def rows(*command):
    return [json.loads(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]


def expected_flops(tbemc, source, network, gates):
    shares = ",".join(f"{gate['path']}={gate['taken'] / max(gate['reached'], 1)}" for gate in gates)
    program = source.split("dataset")[0] + f"design d of {network} {{ input image: [1, 2, 8, 8] }}\n"
    made = rows(tbemc, "estimate", "-e", program, "--gates", shares, "--json")
    return next(row for row in made if row["kind"] == "estimate")["paths"]["flops_expected"]


def main():
    tbemc, folder = sys.argv[1:]
    with open(f"{folder}/train.tbem", encoding="utf-8") as file:
        source = file.read()
    losses = {}
    for row in rows(tbemc, "train", f"{folder}/train.tbem", "--fresh", "--json"):
        if row["kind"] == "train":
            losses.setdefault(row["name"], []).append(row["loss"])
            assert row["validation_flops"] > 0, row
        if row["kind"] != "trained":
            continue
        name, gates = row["name"], row["test_gates"]
        assert losses[name][-1] < 0.75 * losses[name][0], (name, losses[name])
        coming = 90
        for gate in gates:
            assert gate["reached"] == coming and 0 <= gate["taken"] <= coming, (name, gates)
            coming -= gate["taken"] if gate["kind"] == "exit" else 0
        expected = expected_flops(tbemc, source, NETWORKS[name], gates)
        assert expected <= row["test_flops"] <= 1.01 * expected, (name, row["test_flops"], expected)
        print(f"{name}: the loss falls, {len(gates)} gates, the FLOPs are those expected")


main()
