#!/usr/bin/env python3
"""Holds a step saved by `tbemc step --save FILE.npz` against PyTorch.

usage: compare_step.py FILE.npz MODEL [--f32 own|2e-2] [--autocast] [--accumulate PARTS] [--optimizer sgd|nesterov|adam ...]

A file in f64: the loss to 1e-9 relative, every gradient to 1e-9 of the norm of the whole gradient, every updated weight to
1e-9 of the norm of all weights. A file in f32 (`--f32`): the loss to 1e-5 of the f64 loss; the whole gradient's distance from
the f64 gradient at most 3 times that of PyTorch's own f32 gradient (`own`; 1.5 times with `--autocast`), or at most the number given.
With `--accumulate` a file of a step over micro-batches: PyTorch takes each in turn, with its loss divided by their number.
With `--autocast` a file of a mixed step: PyTorch's own is computed under its autocast in bf16, and the loss is held to 2e-2.
Prints what it compared; exits with 1 where a bound is broken.
"""
import argparse
import sys
import zipfile

import numpy as np
import torch
import torch.nn.functional as F

from models import MODELS


def load(path):
    with zipfile.ZipFile(path) as archive:
        names = [name[: -len(".npy")] for name in archive.namelist()]
    data = np.load(path)
    return {name: data[name] for name in names}


def gradients(model, arrays, dtype, autocast=False, parts=1):
    """Loss, gradients, leaves (in order of definition) and output by PyTorch in this element type."""
    weights = [torch.tensor(value, dtype=dtype, requires_grad=True)
               for name, value in arrays.items() if name.startswith("weight/")]
    inputs = [torch.tensor(value, dtype=dtype if value.dtype.kind == "f" else torch.int64)
              for name, value in arrays.items() if name.startswith("input/")]
    target = torch.tensor(arrays["target"], dtype=torch.int64)
    losses, outputs = 0, []
    for *part, labels in zip(*[tensor.chunk(parts) for tensor in (*inputs, target)]):
        parameters = iter(weights)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            output = MODELS[model](*part, parameters)
        left = len(list(parameters))
        if left:
            sys.exit(f"the file has {left} weights that the model does not use")
        output = output if dtype == torch.float64 else output.float()
        if output.dim() == 3:  # a sequence has its classes last, an image second
            loss = F.cross_entropy(output.flatten(0, 1), labels.flatten())
        else:
            loss = F.cross_entropy(output, labels)
        (loss / parts).backward()
        losses += loss.item() / parts
        outputs.append(output.detach().double())
    return losses, [w.grad.double() for w in weights], weights, torch.cat(outputs)


OPTIMIZERS = {
    "sgd": lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9),
    "plain": lambda w: torch.optim.SGD(w, lr=0.1),
    "nesterov": lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": lambda w: torch.optim.Adam(w, lr=0.01, weight_decay=0.01),
}


def distance(a, b):
    return float(torch.sqrt(sum(((x - y) ** 2).sum() for x, y in zip(a, b))))


def norm(a):
    return float(torch.sqrt(sum((x ** 2).sum() for x in a)))


class Verdict:
    def __init__(self):
        self.bad = 0

    def check(self, what, value, bound):
        ok = value <= bound
        self.bad += not ok
        print(f"{'ok' if ok else 'BAD'}: {what} {value:.3g} (at most {bound:.3g})")


def compare(path, model, f32=None, optimizer="sgd", autocast=False, parts=1):
    """True where every bound holds."""
    arrays = load(path)
    verdict = Verdict()
    ours = [torch.tensor(value).double() for name, value in arrays.items() if name.startswith("gradient/")]
    loss, reference, weights, output = gradients(model, arrays, torch.float64, parts=parts)
    if len(ours) != len(reference):
        sys.exit(f"{len(ours)} gradients in the file, {len(reference)} weights in the model")
    whole = norm(reference)
    if f32 is None:
        verdict.check("loss, relative", abs(float(arrays["loss"]) - loss) / abs(loss), 1e-9)
        verdict.check("output, relative", distance([torch.tensor(arrays["output"]).double()], [output]) / norm([output]), 1e-9)
        worst = max(distance([a], [b]) for a, b in zip(ours, reference))
        verdict.check("worst gradient over the whole gradient's norm", worst / whole, 1e-9)
        OPTIMIZERS[optimizer](weights).step()
        after = [torch.tensor(value).double() for name, value in arrays.items() if name.startswith("after/")]
        updated = [w.detach().double() for w in weights]
        if len(after) != len(updated):
            sys.exit(f"{len(after)} updated weights in the file, {len(updated)} in the model")
        verdict.check("updated weights, relative", distance(after, updated) / norm(updated), 1e-9)
    else:
        _, own, _, _ = gradients(model, arrays, torch.float32, autocast, parts)
        theirs = distance(own, reference) / whole
        mine = distance(ours, reference) / whole
        verdict.check("loss, relative", abs(float(arrays["loss"]) - loss) / abs(loss), 2e-2 if autocast else 1e-5)
        bound = (1.5 if autocast else 3) * theirs if f32 == "own" else float(f32)
        print(f"gradient's distance from f64: PyTorch {theirs:.3g}, this {mine:.3g}")
        verdict.check("gradient, relative", mine, bound)
    return verdict.bad == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--f32", default=None)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="sgd")
    arguments = parser.parse_args()
    return 0 if compare(arguments.file, arguments.model, arguments.f32, arguments.optimizer, arguments.autocast, arguments.accumulate) else 1


if __name__ == "__main__":
    sys.exit(main())
