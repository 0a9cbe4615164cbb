#!/usr/bin/env python3
"""Random networks with skips and exits against the same networks that compute every arm for every sample and pick with `where`.

usage: gates_random.py TBEMC FIRST LAST

Every network is made from its number, so that one that differs can be run again alone. Values are read again long after they were
made, behind gates that decide apart; arms hold normalisations and a transformer's layer.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

ARMS = ["relu({v})", "{v} * 2 + 1", "dense({v}, 8)", "layer_norm({v})", "rms_norm({v})", "group_norm({v}, groups: 2)",
        "transformer_layer({v}, heads: 2)", "{v} + {w}", "maximum({v}, {w})", "softmax({v}, axis: 2)", "conv1d({v}, 4, 3, pad: 1)"]
SHAPE = "(x: tensor[b, l, k]) -> tensor[b, 3] {"


def programs(number):
    """The gated network and the one without gates: their weights have the same paths."""
    dice = random.Random(number)
    gated, plain, names, exits = [], [], ["v0"], []
    for lines in (gated, plain):
        lines.append("let v0 = dense(x, 8)")
    for i in range(1, dice.randint(3, 7)):
        score = f"let s{i} = {dice.choice(['max', 'min'])}({dice.choice(names)}, axis: [1, 2])"
        limit = round(dice.uniform(-2, 2), 2)
        arm = dice.choice(ARMS).format(v=dice.choice(names[-3:]), w=dice.choice(names))
        left = dice.choice(names) + dice.choice(["", "", " * 0.5"])
        if dice.random() < 0.75:
            gated += [score, f"let v{i} = skip {arm} when s{i} > {limit} leaving {left}"]
            plain += [score, f"let v{i} = where(reshape(s{i} > {limit}, [b, 1, 1]), {left}, {arm})"]
            names.append(f"v{i}")
        else:
            result = f"let y{i} = {dice.choice(names)} |> mean(axis: 1) |> dense(3)"
            gated += [score, result, f"exit y{i} when s{i} > {limit}"]
            plain += [score, result]
            exits.append((f"reshape(s{i} > {limit}, [b, 1])", f"y{i}"))
    last = f"let out = {names[-1]} |> mean(axis: 1) |> dense(3)"
    picked = "out"
    for condition, value in reversed(exits):
        picked = f"where({condition}, {value}, {picked})"
    gated += [last, "return out"]
    plain += [last, f"return {picked}"]
    return ["\n".join([f"network net{SHAPE}", *lines, "}"]) + "\n" for lines in (gated, plain)]


def main():
    tbemc, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(first, last):
            dice = random.Random(number)
            how = ["--dtype", "f64"] if number % 2 else ["--threads", str(dice.choice([1, 2]))]
            tolerance = 1e-11 if number % 2 else 1e-3
            batch = dice.choice([1, 2, 7, 40])
            for kind, text in zip(("gated", "plain"), programs(number)):
                (folder / f"{kind}.tbem").write_text(text)
            outputs = []
            for kind, given in (("plain", []), ("gated", ["--load", str(folder / "plain.npz")])):
                ran = subprocess.run([tbemc, "step", str(folder / f"{kind}.tbem"), "-e", "net()", "--input", f"x={batch},4,6", *how, *given,
                                      "--seed", str(number), "--save", str(folder / f"{kind}.npz")], capture_output=True, text=True)
                if ran.returncode != 0:
                    sys.exit(f"network {number}, {kind}: {ran.stderr}\n{programs(number)[kind == 'plain']}")
                outputs.append(np.load(folder / f"{kind}.npz")["output"])
            worst = np.abs(outputs[0] - outputs[1]).max()
            if not worst <= tolerance:
                bad += 1
                print(f"network {number}, batch {batch}, {how}: differs by {worst}\n{programs(number)[0]}")
    print(f"{last - first} networks, {bad} differ")


if __name__ == "__main__":
    main()
