#!/usr/bin/env python3
"""Holds gates in programs of `tbemc emit --as pytorch` against our own step: gates_step.py TBEMC FOLDER NAME...

NAME is a network with its inputs, as in pytorch_step.py, and behind them maybe `|masks`: the compact form refuses it. Both forms of its program (`--gates masks`, `--gates compact`) are as Black and
Ruff want them, take our weights by name alone, and are run in f64 on our inputs; weights and inputs are spread so that samples are decided
apart. The output is that of our step on `ref` to 1e-9 of its largest number, and of that on `cpu`, in f32, to 1e-4; each gate's decision is
ours for each sample. Prints a line a network: how many decisions are 0, 1 and -1, and which part of the rows that dense layers and
convolutions get in the one form they get in the other.
"""
import pathlib
import re
import sys

import numpy as np
import steps
import torch

from pytorch_step import state_name

FORMS = ("masks", "compact")
MOST = {"ref": steps.MOST, "cpu": 1e-4}  # the second computes in f32


def arguments_of(name):
    program, _, network = name.split("|")[0].rpartition("@")
    arguments = ([program] if program else []) + ["-e", network]
    for given in name.removesuffix("|masks").split("|")[1:]:
        arguments += ["--input", given]
    return arguments


def forms_of(name):
    return FORMS[:1] if name.endswith("|masks") else FORMS


def spread(arrays, seed):
    """Our weights and inputs, other than they begin: matrices and biases larger, samples of different sizes."""
    random = np.random.default_rng(seed)
    given = {}
    for name, array in arrays.items():
        if name.startswith("weight/"):
            given[name] = array * 3 if array.ndim == 2 else array + 0.3 * random.standard_normal(array.shape)
        elif name.startswith("buffer/"):
            given[name] = array + 0.2 * random.random(array.shape)
        elif name.startswith("input/") and array.dtype.kind == "f":
            sizes = np.geomspace(0.1, 3, len(array)).reshape(-1, *[1] * (array.ndim - 1))
            given[name] = array * sizes
    return given


def our_steps(tbemc, folder, name, number):
    """By backend: all arrays of the step, in f64 on `ref` and in f32 on `cpu`. Weights and inputs are the same."""
    arguments, saved, given = arguments_of(name), folder / f"gated_{number}.npz", folder / f"given_{number}.npz"
    command = [tbemc, "step", *arguments, "--quiet", "--save", str(saved)]
    in_f64 = [*command, "--on", "ref", "--dtype", "f64"]
    steps.run(in_f64)
    arrays = spread(dict(np.load(saved)), number)
    np.savez(given, **arrays)
    steps.run([*in_f64, "--load", str(given)])
    ours = {"ref": dict(np.load(saved))}
    np.savez(given, **{key: array.astype(np.float32) if array.dtype.kind == "f" else array for key, array in arrays.items()})
    steps.run([*command, "--on", "cpu", "--load", str(given)])
    return {**ours, "cpu": dict(np.load(saved))}


def program_of(tbemc, folder, name, number, form):
    text = steps.run([tbemc, "emit", *arguments_of(name), "--as", "pytorch", "--gates", form, "--quiet"])
    path = folder / f"gated_{number}_{form}.py"
    path.write_text(text, encoding="utf-8")
    tools = pathlib.Path(sys.executable).parent
    steps.run([str(tools / "black"), "--check", "--quiet", str(path)])
    steps.run([str(tools / "ruff"), "check", "--quiet", "--no-cache", str(path)])
    return text, steps.imported(path)


def rows_computed(model):
    """Counts the rows that linear layers and convolutions get, into the list that it returns."""
    rows = []
    for module in model.modules():
        if isinstance(module, (torch.nn.Linear, torch.nn.Conv2d)):
            module.register_forward_hook(lambda _, inputs, __: rows.append(len(inputs[0])))
    return rows


def compare(tbemc, folder, name, number):
    ours = our_steps(tbemc, folder, name, number)
    arrays = ours["ref"]
    state = {state_name(path): torch.from_numpy(array) for word in ("weight", "buffer") for path, array in steps.group(arrays, word).items()}
    inputs = [torch.from_numpy(array) for array in steps.group(arrays, "input").values()]
    taken = {state_name(path): array for path, array in steps.group(arrays, "decision").items()}
    computed = {}
    for form in forms_of(name):
        text, module = program_of(tbemc, folder, name, number, form)
        model = steps.assigned(text, "model", vars(module)).eval()
        theirs = {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
        assert theirs == set(state), sorted(theirs ^ set(state))[:6]
        model.load_state_dict(state, strict=False)
        rows = rows_computed(model)
        with torch.no_grad():
            output = model(*inputs).numpy()
            again = model(*inputs).numpy()
        assert (output == again).all(), "a second pass gives something else"
        computed[form] = sum(rows) // 2
        for backend, saved in ours.items():
            far = steps.far(saved["output"], output)
            assert far <= MOST[backend], (name, form, backend, far)
            known = {state_name(path): array for path, array in steps.group(saved, "decision").items()}
            decided = {key: decision.numpy() for key, decision in module.decisions(model).items()}
            assert set(decided) == set(known), sorted(set(decided) ^ set(known))
            for key, decision in decided.items():
                assert (decision == known[key]).all(), (name, form, backend, key, decision, known[key])
    every = np.concatenate([*taken.values()])
    counts = ", ".join(f"{(every == value).sum()} are {value}" for value in (0, 1, -1))
    share = f"; the compact form computes {computed['compact'] / computed['masks']:.0%} of the rows" if "compact" in computed else ""
    print(f"{re.sub('.*@', '', name.split('|')[0])}: {len(taken)} gates, {counts}{share}", flush=True)


def main():
    tbemc, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_default_dtype(torch.float64)
    for number, name in enumerate(names):
        compare(tbemc, folder, name, number)
    print(f"{len(names)} networks: the same decisions and outputs")


if __name__ == "__main__":
    main()
