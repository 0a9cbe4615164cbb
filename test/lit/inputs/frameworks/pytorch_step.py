#!/usr/bin/env python3
"""Holds programs of `tbemc emit --as pytorch` against our own step: pytorch_step.py TBEMC FOLDER NAME... [--step OPTION...]

NAME is a program, or a network with its input as the command line has it, of the standard library or of a program:
`resnet(depth: 18)|image=2,3,64,64`, `own.tbem@net|x=2,3`. Each is emitted, must be as Black and Ruff want it, is imported, loaded with our
weights by name alone, and takes one step in f64 on our inputs. Its state must have our weights and buffers and no others;
output, loss, gradients, running statistics and, of a training, the weights after the step must be ours to 1e-9 of the largest number in
each group. Prints a line a network.
"""
import ast
import functools
import importlib.util
import keyword
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import torch

MOST = 1e-9
RESERVED = {*keyword.kwlist, *dir(torch.nn.Module), "self", "training"}


def state_name(path):
    """`stage[0].conv2d.weight` as PyTorch's state has it: `stage.0.conv2d.weight`."""
    words = re.sub(r"\[(\d+)\]", r".\1", path).split(".")
    name = ".".join(word + "_" if word.rstrip("_") in RESERVED else word for word in words)
    return re.sub(r"running_variance$", "running_var", name)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def far(ours, theirs):
    """The largest difference of two arrays, as a part of the largest number in ours."""
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    if ours.size == 0:
        return 0.0
    assert np.isfinite(theirs).all(), theirs
    return float(np.abs(ours - theirs).max() / max(np.abs(ours).max(), 1e-30))


def group(arrays, word):
    return {name[len(word) + 1:]: arrays[name] for name in arrays if name.startswith(word + "/")}


def farthest(ours, theirs):
    """Over a group of arrays: the largest difference, as a part of the largest number of the whole group."""
    largest = max((float(np.abs(one).max()) for one in ours.values() if one.size), default=0.0)
    assert all(np.isfinite(one).all() for one in theirs.values()), theirs
    worst = max((float(np.abs(ours[name] - theirs[name]).max()) for name in ours if ours[name].size), default=0.0)
    return worst / max(largest, 1e-30)


def assigned(text, name, names):
    """What the program's main assigns to the name."""
    main = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "main")
    value = next(node.value for node in main.body if isinstance(node, ast.Assign) and node.targets[0].id == name)
    return eval(ast.unparse(value), names)  # pylint: disable=eval-used


def compare(tbemc, folder, name, options, number):
    program, _, network = name.split("|")[0].rpartition("@")
    arguments = [name] if "|" not in name else ([program] if program else []) + ["-e", network]
    for given in name.split("|")[1:]:
        arguments += ["--input", given]
    text = run([tbemc, "emit", *arguments, *options, "--as", "pytorch", "--quiet"])
    program = folder / f"network_{number}.py"
    program.write_text(text, encoding="utf-8")
    tools = pathlib.Path(sys.executable).parent
    run([str(tools / "black"), "--check", "--quiet", str(program)])
    run([str(tools / "ruff"), "check", "--quiet", "--no-cache", str(program)])
    saved = folder / f"network_{number}.npz"
    run([tbemc, "step", *arguments, *options, "--on", "ref", "--dtype", "f64", "--save", str(saved), "--quiet"])
    arrays = dict(np.load(saved))

    torch.set_default_dtype(torch.float64)
    spec = importlib.util.spec_from_file_location(program.stem, program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = assigned(text, "model", vars(module))
    state = {state_name(path): torch.from_numpy(array) for word in ("weight", "buffer") for path, array in group(arrays, word).items()}
    theirs = {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
    assert theirs == set(state), sorted(theirs ^ set(state))[:6]
    model.load_state_dict(state, strict=False)
    trains = "loss" in arrays and any(key.startswith("gradient/") for key in arrays)
    model.train(trains)
    inputs = [torch.from_numpy(array) for array in group(arrays, "input").values()]
    unclipped, utils = {}, torch.nn.utils
    clips = {word: getattr(utils, word) for word in ("clip_grad_norm_", "clip_grad_value_")}

    def clip_later(word, parameters, *limits):
        """Keeps the gradients, which are ours, before they are cut in place."""
        unclipped.update({key: one.grad.clone() for key, one in model.named_parameters()})
        return clips[word](parameters, *limits)

    for word in clips:
        setattr(utils, word, functools.partial(clip_later, word))
    outputs = []
    model.register_forward_hook(lambda _, __, output: outputs.append(output))
    differences = {}
    if trains:
        optimizer = assigned(text, "optimizer", {"torch": torch, "model": model})
        updating = [optimizer]
        if "LambdaLR(" in text:
            updating.append(torch.optim.lr_scheduler.LambdaLR(optimizer, module.learning_rate))
        loss = module.step(model, *updating, *inputs, torch.from_numpy(arrays["target"]))
        differences["loss"] = far(arrays["loss"], loss.detach().numpy())
        gradients = {state_name(path): array for path, array in group(arrays, "gradient").items()}
        parameters = dict(model.named_parameters())
        theirs = {key: unclipped.get(key, parameters[key].grad).numpy() for key in gradients}
        differences["gradients"] = farthest(gradients, theirs)
        for word, meaning in (("after", "weights after"), ("buffer_after", "buffers after")):
            ours = {state_name(path): array for path, array in group(arrays, word).items()}
            if ours:
                differences[meaning] = farthest(ours, {key: model.state_dict()[key].numpy() for key in ours})
    else:
        with torch.no_grad():
            model(*inputs)
    for word, clip in clips.items():
        setattr(utils, word, clip)
    calls = [output if isinstance(output, tuple) else (output,) for output in outputs]  # several: of micro-batches
    given = [torch.cat(parts) if len(parts) > 1 else parts[0] for parts in zip(*calls)]
    names = [key for key in arrays if re.fullmatch(r"output(_\d+)?", key)]
    assert len(given) == len(names), (len(given), names)
    differences["output"] = max(far(arrays[key], one.detach().numpy()) for key, one in zip(names, given))
    assert all(math.isfinite(one) and one <= MOST for one in differences.values()), (name, differences)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{network or name}: {count} parameters, {len(text.splitlines())} lines, {', '.join(differences)} within 1e-9", flush=True)


def main():
    tbemc, folder, *rest = sys.argv[1:]
    split = rest.index("--step") if "--step" in rest else len(rest)
    names, options = rest[:split], rest[split + 1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        compare(tbemc, folder, name, options, number)
    print(f"{len(names)} networks: the same steps")


main()
