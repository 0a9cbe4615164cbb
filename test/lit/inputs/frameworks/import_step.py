#!/usr/bin/env python3
"""Holds imported models against PyTorch: import_step.py TBEMC FOLDER [--infer] MODEL...

MODEL is `package.module:name|arguments|input=shape...`, as `tbemc import` takes them. Each is imported and takes one step in f64
from the model's weights, which are read by their names in its state dict, on our inputs: output, loss (the cross entropy of the first
result), gradients, running statistics and the weights after plain gradient descent must be PyTorch's to 1e-9 of the largest number in each
group. With --infer, and for models whose first result is no table of classes, only the output is compared. Random layers are told to
leave nothing out. Prints a line a model.
"""
import importlib
import inspect
import json
import os
import pathlib
import re
import sys

import numpy as np
import torch
from safetensors.torch import save_file

import steps

RATE = 0.01


def without_chance(model):
    """Layers that leave out elements or samples leave out none; the weights are such that no sum vanishes."""
    for module in model.modules():
        for name in ("p", "drop_prob", "dropout", "attention_dropout", "dropout_p", "attn_drop", "proj_drop"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2:
                weight.copy_(torch.randn(weight.shape, generator=generator) * 0.1 + (1 if name.endswith("weight") else 0))
    return model


def build(target, arguments):
    place, _, name = target.rpartition(":")
    value = importlib.import_module(place)
    for part in name.split("."):
        value = getattr(value, part)
    positional, named = eval(f"(lambda *a, **k: (a, k))({arguments})", vars(sys.modules[place]).copy())  # pylint: disable=eval-used
    torch.manual_seed(0)
    return without_chance(value(*positional, **named))


def paths(names, state):
    """Their names and ours, by the lines of a table of names."""
    found = {}
    for line in names.splitlines():
        theirs, ours = line.split()
        pattern = re.compile(re.escape(theirs).replace(r"\{\}", r"(\d+)") + "$")
        for name in state:
            match = pattern.match(name)
            if match and name not in found:
                numbers = iter(match.groups())
                found[name] = re.sub(r"\{\}", lambda _: next(numbers), ours)
    return found


def compare(tbemc, folder, text, infer):
    target, arguments, *inputs = text.split("|")
    given = [option for one in inputs for option in ("--input", one)]
    program, weights, saved = folder / "model.tbem", folder / "model.safetensors", folder / "step.npz"
    environment = dict(os.environ, IMPORT_MODEL=target, IMPORT_ARGUMENTS=arguments,
                       PYTHONPATH=f"{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}")
    steps.run([tbemc, "import", "import_model:build", *given, "--python", sys.executable, "--name", "net", "-o", str(program), "--quiet"],
              env=environment)
    model = build(target, arguments).double()
    state = {name: value.detach() for name, value in model.state_dict().items()}
    ours = paths((folder / "model.names").read_text(encoding="utf-8"), state)
    assert set(ours) == set(state), sorted(set(state) - set(ours))[:5]
    save_file({name: value.clone() for name, value in state.items()}, str(weights))  # all that the model's own file has
    ours = {name: path for name, path in ours.items() if path != "-"}
    plain = [re.sub(r":\w+$", "", one) for one in inputs]
    command = [tbemc, "step", str(program), "-e", "net()", *[option for one in plain for option in ("--input", one)],
               "--load", str(weights), "--names", str(folder / "model.names"), "--on", "ref", "--dtype", "f64", "--save", str(saved), "--quiet"]
    if not infer:
        command += ["--task", f"train(loss: cross_entropy, optimizer: sgd(lr: {RATE}))"]
    steps.run(command)
    arrays = dict(np.load(saved))
    tensors = {name: torch.from_numpy(array) for name, array in steps.group(arrays, "input").items()}
    model.train(not infer)
    known = inspect.signature(model.forward).parameters
    result = model(**tensors) if all(name in known for name in tensors) else model(*tensors.values())
    results = list(torch.utils._pytree.tree_leaves(result))
    results = [one for one in results if isinstance(one, torch.Tensor)]
    compared = results if infer else results[:1]
    differences = {"output": max(steps.far(arrays["output" if k == 0 else f"output_{k + 1}"], one.detach().numpy())
                                 for k, one in enumerate(compared))}
    if not infer:
        loss = torch.nn.functional.cross_entropy(results[0], torch.from_numpy(arrays["target"]))
        loss.backward()
        differences["loss"] = steps.far(arrays["loss"], loss.item())
        parameters = {name: one for name, one in model.named_parameters() if name in ours}
        gradients = {name: one.grad.numpy() for name, one in parameters.items() if one.grad is not None}
        differences["gradients"] = steps.farthest({name: arrays[f"gradient/{ours[name]}"] for name in gradients}, gradients)
        after = {name: (one - RATE * one.grad).detach().numpy() for name, one in parameters.items() if one.grad is not None}
        differences["weights after"] = steps.farthest({name: arrays[f"after/{ours[name]}"] for name in after}, after)
        buffers = {name: one.numpy() for name, one in model.named_buffers() if name in ours}
        if buffers:
            differences["buffers after"] = steps.farthest({name: arrays[f"buffer_after/{ours[name]}"] for name in buffers}, buffers)
    assert all(one <= steps.MOST for one in differences.values()), (text, differences)
    count = sum(one.numel() for one in model.parameters())
    lines = len(program.read_text(encoding="utf-8").splitlines())
    print(f"{target.rpartition(':')[2]}: {count} parameters, {lines} lines, {', '.join(differences)} within 1e-9", flush=True)


def main():
    tbemc, folder, *rest = sys.argv[1:]
    infer = "--infer" in rest
    models = [one for one in rest if one != "--infer"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    for text in models:
        try:
            compare(tbemc, folder, text, infer)
        except AssertionError as error:
            wrong.append(text)
            print(f"{text}: {str(error)[:2000]}", flush=True)
    print(json.dumps({"models": len(models), "wrong": wrong}) if wrong else f"{len(models)} models: the same steps")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
