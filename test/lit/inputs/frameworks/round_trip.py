#!/usr/bin/env python3
"""Holds what `tbemc import` makes of a program of `tbemc emit --as pytorch` against the network it was: round_trip.py TBEMC FOLDER [NETWORK...]

NETWORK is as the command line has it, with its inputs: `resnet(depth: 18)|image=2,3,64,64`; none: every network of the standard library
that has no gates. Both programs must have
- the same number of parameters, and weights that are one another's: each is found by its name in PyTorch's state and has the same shape;
- the same operators with multiply-adds in the same order, reading the same weights, which lie in the same blocks, turns of loops and places
  of lists, with the same multiply-adds;
- the same numbers: of a step in f64 (cross entropy, gradient descent) from the same weights on the same inputs, output, loss,
  gradients, weights after and running statistics to 1e-9 of the largest number in each group; to 1e-6 where the program has tables that
  PyTorch computes in f32 (llama's rotary ones), which come back as numbers.
Prints a line a network, with what may differ: operators without multiply-adds, and paths that import had to change.

The exporter (tools/runners/export.py) runs in forks of this Python, which has PyTorch already: a recorded export is what is imported.
"""
import ast
import collections
import json
import os
import pathlib
import re
import sys

import numpy as np
import torch  # for the forks; nothing is computed with it here

import import_step
import steps
from pytorch_step import state_name

ROOT = pathlib.Path(__file__).resolve().parents[4]
PICTURE = "|image=2,3,64,64"
# Every network of the standard library without gates, made small.
NETWORKS = [
    "lenet5|image=4,1,28,28", "small_vgg(depth: 11, width: 16)|image=2,3,32,32", "resnet(depth: 18, classes: 10)" + PICTURE,
    "resnet(depth: 50, classes: 10)" + PICTURE,
    "cifar_resnet(depth: 20)|image=4,3,32,32", "resnext(groups: 8, group_width: 2, classes: 10)" + PICTURE,
    "regnet(depth: 4, initial: 24, slope: 12, step: 1.6, group: 8, squeeze: 0.25, classes: 10)" + PICTURE,
    "mobilenet_v1(width: 0.25, classes: 10)" + PICTURE, "mobilenet_v2(width: 0.25, classes: 10, dropout: 0)" + PICTURE,
    "mobilenet_v3(small: true, width: 0.5, classes: 10, dropout: 0)" + PICTURE, "mnasnet(width: 0.25, classes: 10, dropout: 0)" + PICTURE,
    "efficientnet(width: 0.25, classes: 10, dropout: 0, drop: 0)" + PICTURE,
    "efficientnet_v2(width: 0.25, classes: 10, dropout: 0, drop: 0)" + PICTURE, "densenet(growth: 8, classes: 10)" + PICTURE,
    "squeezenet(classes: 10, dropout: 0)" + PICTURE, "googlenet(classes: 10, dropout: 0)" + PICTURE,
    "inception_v3(classes: 10, dropout: 0)|image=2,3,107,91", "shufflenet_v2(width: 0.5, classes: 10)" + PICTURE,
    "convnext(width: 16, units: [1, 1, 2, 1], classes: 10, drop: 0)" + PICTURE,
    "vit(layers: 2, width: 32, heads: 4, classes: 10, dropout: 0)" + PICTURE,
    "swin(width: 16, units: [1, 2, 2], head_width: 8, window: 5, classes: 10, drop: 0)|image=2,3,52,36", "unet(classes: 3, width: 4)" + PICTURE,
    "gpt2(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, dropout: 0)|tokens=2,20",
    "bert(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, classes: 5, dropout: 0)|tokens=2,20|segments=2,20",
    "llama(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, groups: 2, hidden: 48)|tokens=2,20",
    # These are large however small the picture is.
    "wide_resnet(factor: 1, classes: 10)|image=2,3,32,32", "alexnet(classes: 10, dropout: 0)" + PICTURE,
    "vgg(depth: 11, norm: true, classes: 10, dropout: 0)|image=2,3,32,32",
]
# Networks whose tables PyTorch computes, and rounds to f32, when the model is exported.
HAVE_TABLES = ("llama(",)
MOST_OF_TABLES = 1e-6
TASK = "train(loss: cross_entropy, optimizer: sgd(lr: 0.01))"


def constructed(text):
    """The class of the emitted model, and the text of its arguments."""
    main = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "main")
    call = next(node.value for node in main.body if isinstance(node, ast.Assign) and node.targets[0].id == "model")
    words = [ast.unparse(word) for word in call.args] + [f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords]
    return call.func.id, ", ".join(words)


def export(program, inputs, record):
    """Writes the recorded export of the emitted program's model."""
    name, arguments = constructed(program.read_text(encoding="utf-8"))
    request = {"target": f"{program}:{name}", "arguments": arguments, "sizes": "batch",
               "inputs": [{"name": key, "shape": list(a.shape), "type": "i64" if a.dtype == np.int64 else "f32"} for key, a in inputs.items()]}
    child = os.fork()
    if child == 0:
        os.dup2(os.open(record, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        text, graph = ((ROOT / "tools/runners" / name).read_text(encoding="utf-8") for name in ("export.py", "export_graph.py"))
        sys.argv = ["-c", json.dumps(request), graph]
        try:
            exec(compile(text, "export.py", "exec"), {"__name__": "__main__"})  # pylint: disable=exec-used
        except BaseException as error:  # pylint: disable=broad-except
            print(f"{program}: {type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, f"{program}: the exporter failed"


def facts(tbemc, arguments):
    """Parameters, the operators with multiply-adds in order, the weights that they read, and how often each other operator occurs."""
    graph = json.loads(steps.run([tbemc, "emit", *arguments, "--as", "json", "--quiet"]))
    weights = {weight["value"]: weight["path"] for weight in graph["weights"]}
    heavy, others = [], collections.Counter()
    for operator in graph["operators"]:
        macs = operator.get("flops", {}).get("mac", 0)
        read = [weights[value] for value in operator["inputs"] if value in weights]
        if operator.get("primitive") in ("view", "permute") and read:  # what is turned is the same weight still
            weights.update(dict.fromkeys(operator["outputs"], read[0]))
        if macs > 0:
            heavy.append((operator["operator"], read, macs))
        else:
            others[operator["operator"]] += 1
    lines = steps.run([tbemc, "estimate", *arguments, "--json", "--quiet"]).splitlines()
    row = next(one for one in map(json.loads, lines) if one["kind"] == "estimate")
    blocks = len({operator["path"] for operator in graph["operators"]} - {""})
    return {"parameters": row["parameters"], "heavy": heavy, "others": others, "flops": row["flops"]["forward"], "blocks": blocks,
            "macs": sum(count["mac_flops_forward"] for count in row["flops"]["by_operator"].values())}


def step(tbemc, arguments, saved, *options):
    steps.run([tbemc, "step", *arguments, "--task", TASK, "--on", "ref", "--dtype", "f64", "--save", str(saved), "--quiet", *options])
    return dict(np.load(saved))


def compare(tbemc, folder, network):
    expression, *inputs = network.split("|")
    given = [word for one in inputs for word in ("--input", one)]
    there = ["-e", expression, *given]
    program, record, imported = folder / "emitted.py", folder / "emitted.json", folder / "imported.tbem"
    program.write_text(steps.run([tbemc, "emit", *there, "--as", "pytorch", "--quiet"]), encoding="utf-8")
    ours = step(tbemc, there, folder / "ours.npz")
    export(program, steps.group(ours, "input"), record)
    steps.run([tbemc, "import", str(record), "--name", "net", "-o", str(imported), "--quiet"])
    here = [str(imported), "-e", "net()", *given]

    # Where each of our weights is in the imported program, by its name in PyTorch's state.
    paths = [name.partition("/")[2] for name in ours if name.startswith(("weight/", "buffer/"))]
    states = {path: state_name(path) for path in paths}
    table = import_step.paths((folder / "imported.names").read_text(encoding="utf-8"), list(states.values()))
    missing = [path for path in paths if table.get(states[path], "-") == "-"]
    assert not missing, f"weights that the imported program lacks: {missing[:5]}"
    place = {path: table[states[path]] for path in paths}
    given_arrays = {}
    for name, array in ours.items():
        group, _, path = name.partition("/")
        if group in ("weight", "buffer"):
            given_arrays[f"{group}/{place[path]}"] = array
        elif group in ("input", "target"):
            given_arrays[name] = array
    np.savez(folder / "given.npz", **given_arrays)
    theirs = step(tbemc, here, folder / "theirs.npz", "--load", str(folder / "given.npz"))

    first, second = facts(tbemc, there), facts(tbemc, here)
    for what in ("parameters", "macs"):
        assert first[what] == second[what], f"{first[what]} {what}, and {second[what]} in the imported program"
    heavy = [(name, [place[path] for path in read], macs) for name, read, macs in first["heavy"]]
    for mine, other in zip(heavy, second["heavy"]):
        assert mine == other, f"where the network has {mine}, the imported program has {other}"
    assert len(heavy) == len(second["heavy"]), f"{len(heavy)} operators with multiply-adds, and {len(second['heavy'])} in the imported program"

    moved = {"gradient": "gradient", "after": "after", "buffer_after": "buffer_after"}
    differences = {"output": steps.far(ours["output"], theirs["output"]), "loss": steps.far(ours["loss"], theirs["loss"])}
    for group in moved:
        mine = {place[path]: array for path, array in steps.group(ours, group).items()}
        if mine:
            differences[group] = steps.farthest(mine, {path: theirs[f"{group}/{path}"] for path in mine})
    most = MOST_OF_TABLES if expression.startswith(HAVE_TABLES) else steps.MOST
    assert all(one <= most for one in differences.values()), differences
    changed = {name: second["others"][name] - first["others"][name] for name in first["others"] | second["others"]
               if second["others"][name] != first["others"][name]}
    renamed = sum(re.sub(r"_(?=[.\[]|$)", "", other) != path for path, other in place.items())  # `conv2d_`: the library has a `conv2d`
    print(f"{expression}: {first['parameters']} parameters, {len(heavy)} operators with multiply-adds in {first['blocks']} calls of blocks ({second['blocks']} back), "
          f"{len(imported.read_text(encoding='utf-8').splitlines())} lines; {renamed} paths are others; FLOPs {second['flops'] / first['flops']:.4f}; "
          f"others {json.dumps(dict(sorted(changed.items()))) if changed else 'the same'}; worst {max(differences.values()):.1e}", flush=True)


def main():
    tbemc, folder, *networks = sys.argv[1:]
    assert torch.__version__
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    networks = networks or NETWORKS
    for network in networks:
        try:
            compare(tbemc, folder, network)
        except AssertionError as error:
            wrong += 1
            print(f"{network}: WRONG: {re.sub(chr(10), ' ', str(error))[:1500]}", flush=True)
    print(f"{len(networks)} networks: there and back" if wrong == 0 else f"{wrong} of {len(networks)} networks do not come back")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
