#!/usr/bin/env python3
"""Holds imported models against PyTorch: import_step.py TBEMC FOLDER [--infer] MODEL...

MODEL is `package.module:name|arguments|input=shape...`, as `tbemc import` takes them, or @FILE with one a line. Each is imported and takes one step in f64
from the model's weights, which are read by their names in its state dict, on our inputs: output, loss (the cross entropy of the first
result), gradients, running statistics and the weights after plain gradient descent must be PyTorch's to 1e-9 of the largest number in each
group. With --infer, and for models whose first result is no table of classes, only the output is compared. Random layers are told to
leave nothing out. Prints a line a model.
"""
import functools
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
from torch.overrides import TorchFunctionMode

import steps

RATE = 0.01


class InDouble(TorchFunctionMode):
    """Tensors that depend on weights stay in f64 where a model computes in f32 whatever its weights have, as normalisations of
    transformers do. Tables that depend on nothing are what they are in the program, too: computed in f32. The gradient of PyTorch's
    hardsigmoid has 1/6 rounded to f32, so that it is taken apart."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function.__name__ == "hardsigmoid":
            return torch.nn.functional.relu6(args[0] + 3) / 6
        own = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if own is not None and own.requires_grad and own.dtype is torch.float64:
            if function is torch.Tensor.float:
                return own
            args = tuple(torch.float64 if one is torch.float32 else one for one in args)
            kwargs = {name: torch.float64 if one is torch.float32 else one for name, one in kwargs.items()}
        return function(*args, **kwargs)


def masks_of(inputs):
    """Of inputs that say which places count: such that some do not, at the end, and the first always does."""
    masks = {}
    for text in inputs:
        name, _, sizes = text.partition("=")
        if "mask" in name:
            rows, length = (int(size) for size in sizes.partition(":")[0].split(","))
            masks[name] = np.array([[int(place <= length // 2 + row) for place in range(length)] for row in range(rows)])
    return masks


def without_chance(model):
    """Layers that leave out elements or samples leave out none; the weights are such that no sum vanishes."""
    for module in model.modules():
        for name in ("p", "drop_prob", "dropout", "attention_dropout", "dropout_p", "attn_drop", "proj_drop", "drop_rate"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2:
                weight.copy_(torch.randn(weight.shape, generator=generator) * 0.1 + (1 if name.endswith("weight") else 0))
    return model


def first_alone(forward):
    """A forward pass without its other results: a loss is of one."""
    @functools.wraps(forward)
    def alone(*tensors, **named):
        return next(one for one in torch.utils._pytree.tree_leaves(forward(*tensors, **named)) if isinstance(one, torch.Tensor))

    return alone


def model_of(target, arguments):
    """As `tbemc import` makes it."""
    place, _, name = target.rpartition(":")
    module = value = importlib.import_module(place)
    for part in name.split("."):
        value = getattr(value, part)
    names = {word: getattr(module, word) for word in re.findall(r"\w+", arguments) if hasattr(module, word)}
    positional, named = eval(f"(lambda *a, **k: (a, k))({arguments})", names)  # pylint: disable=eval-used
    return value(*positional, **named)


def build(target, arguments, infer=False):
    torch.manual_seed(0)
    model = without_chance(model_of(target, arguments))
    if not infer:
        model.forward = first_alone(model.forward)
    return model


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
    environment = dict(os.environ, IMPORT_MODEL=target, IMPORT_ARGUMENTS=arguments, IMPORT_RESULTS="all" if infer else "first",
                       PYTHONPATH=f"{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}")
    steps.run([tbemc, "import", "import_model:build", *given, "--python", sys.executable, "--name", "net", "-o", str(program), "--quiet"],
              env=environment)
    model = build(target, arguments, infer).double()
    for module in model.modules():  # what is kept for a next call is no result
        if getattr(getattr(module, "config", None), "use_cache", None) is True:
            module.config.use_cache = False
    state = {name: value.detach() for name, value in model.state_dict().items()}
    ours = paths((folder / "model.names").read_text(encoding="utf-8"), state)
    assert set(ours) == set(state), sorted(set(state) - set(ours))[:5]
    masks = {f"input/{name}": torch.from_numpy(mask) for name, mask in masks_of(inputs).items()}
    save_file({name: value.clone() for name, value in state.items()} | masks, str(weights))  # all that the model's own file has
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
    with InDouble():
        result = model(**tensors) if all(name in known for name in tensors) else model(*tensors.values())
    results = list(torch.utils._pytree.tree_leaves(result))
    results = [one for one in results if isinstance(one, torch.Tensor)]
    compared = results if infer else results[:1]
    differences = {"output": max(steps.far(arrays["output" if k == 0 else f"output_{k + 1}"], one.detach().numpy())
                                 for k, one in enumerate(compared))}
    if not infer:
        logits = results[0].transpose(1, 2) if results[0].dim() == 3 else results[0]  # as our cross_entropy: the last of three
        loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(arrays["target"]))
        loss.backward()
        differences["loss"] = steps.far(arrays["loss"], loss.item())
        parameters = {name: one for name, one in model.named_parameters() if name in ours}
        gradients = {name: one.grad.numpy() for name, one in parameters.items() if one.grad is not None}
        differences["gradients"] = steps.farthest({name: arrays[f"gradient/{ours[name]}"] for name in gradients}, gradients)
        unlearned = [name for name, one in parameters.items() if one.grad is None and f"gradient/{ours[name]}" in arrays]
        assert not unlearned, unlearned
        after = {name: (one - RATE * one.grad).detach().numpy() for name, one in parameters.items() if one.grad is not None}
        differences["weights after"] = steps.farthest({name: arrays[f"after/{ours[name]}"] for name in after}, after)
        buffers = {name: one.numpy() for name, one in model.named_buffers() if name in ours}
        if buffers:
            differences["buffers after"] = steps.farthest({name: arrays[f"buffer_after/{ours[name]}"] for name in buffers}, buffers)
    assert all(one <= steps.MOST for one in differences.values()), (text, differences)
    count = sum(one.numel() for one in model.parameters())
    lines = len(program.read_text(encoding="utf-8").splitlines())
    print(f"{target.rpartition(':')[2]}: {count} parameters, {lines} lines, {', '.join(differences)} within 1e-9", flush=True)
    return differences


def main():
    tbemc, folder, *rest = sys.argv[1:]
    infer = "--infer" in rest
    models = [one for word in rest if word != "--infer" for one in
              (pathlib.Path(word[1:]).read_text(encoding="utf-8").splitlines() if word.startswith("@") else [word])]
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
