#!/usr/bin/env python3
"""One process of eager PyTorch for attack.py: searches of slow inputs of sdn_resnet56, timed batch by batch.

Written as PyTorch's users write it: gradients of the input alone, the network at inference, nothing that counts FLOPs,
and no operator behind the last exit that the objective has. The points go to --save (.npy); prints one JSON object.
"""
import argparse
import json
import os
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pytorch"))
from perturbed_models import TEMPERATURE, Walk, read_arrays, sdn_resnet56  # noqa: E402

THRESHOLD = 0.5


class Network:
    """The results of the first `exits` exits. `folded`: batch normalisations are in the convolutions' weights."""

    def __init__(self, arrays, exits, folded, layout):
        self.exits, self.folded = exits, folded
        self.arrays = {name: array.contiguous(memory_format=layout) if array.dim() == 4 else array
                       for name, array in arrays.items()}
        if folded:
            for name in [name for name in arrays if name.endswith("conv2d.weight")]:
                self.fold(name[len("weight/"):-len("conv2d.weight")])

    def fold(self, path):
        a, norm = self.arrays, f"{path}batch_norm"
        scale = a[f"weight/{norm}.weight"] / (a[f"buffer/{norm}.running_variance"] + 1e-5).sqrt()
        a[f"weight/{path}conv2d.bias"] = a[f"weight/{norm}.bias"] - a[f"buffer/{norm}.running_mean"] * scale
        a[f"weight/{path}conv2d.weight"] = a[f"weight/{path}conv2d.weight"] * scale[:, None, None, None]

    def conv_norm(self, x, path, stride=1, pad=1):
        a, norm = self.arrays, f"{path}batch_norm"
        y = F.conv2d(x, a[f"weight/{path}conv2d.weight"], a.get(f"weight/{path}conv2d.bias"), stride, pad)
        if self.folded:
            return y
        return F.batch_norm(y, a[f"buffer/{norm}.running_mean"], a[f"buffer/{norm}.running_variance"],
                            a[f"weight/{norm}.weight"], a[f"weight/{norm}.bias"], False, 0, 1e-5)

    def residual(self, x, path, stride):
        y = F.relu(self.conv_norm(x, f"{path}conv_bn_relu.", stride), inplace=True)
        y = self.conv_norm(y, path)
        if stride > 1:
            x = self.conv_norm(x, f"{path}shortcut.", stride, 0)
        return F.relu(y + x, inplace=True)

    def classifier(self, x, path):
        a, kernel = self.arrays, x.shape[2] // 4
        mixture = a[f"weight/{path}mixture"]
        y = F.max_pool2d(x, kernel) * mixture + F.avg_pool2d(x, kernel) * (1 - mixture)
        return F.linear(y.flatten(1), a[f"weight/{path}dense.weight"], a[f"weight/{path}dense.bias"])

    def __call__(self, image):
        x = F.relu(self.conv_norm(image, "conv_bn_relu."), inplace=True)
        results = []
        for stage in range(3):
            for unit in range(9):
                path = f"stage[{stage}].unit[{unit}]."
                x = self.residual(x, f"{path}residual.", 2 if stage > 0 and unit == 0 else 1)
                if unit in [(3, 7), (2, 6), (1, 5)][stage]:
                    results.append(self.classifier(x, f"{path}mixed_pool_classifier."))
                    if len(results) == self.exits:
                        return results
        raise AssertionError("the last result has no share in the objective")


def objective(network, shares, x):
    """Minus the expected FLOPs, as a share of all that gates decide about (docs/perturb.md)."""
    total, reach = 0, 1
    for share, y in zip(shares, network(x)):
        score = y.softmax(1).amax(1)
        reach = reach * torch.sigmoid((THRESHOLD - score) / TEMPERATURE)
        total = total - share * reach.sum()
    return total


def attack(function, seed, steps, radius, dtype=torch.float32):
    """The points. In f64 they are handed on in f32 between steps."""
    low, high = (seed - radius).clamp(min=0), (seed + radius).clamp(max=1)
    x = seed
    for _ in range(steps):
        x = x.to(dtype).detach().requires_grad_(True)
        gradient, = torch.autograd.grad(function(x), x)
        x = torch.clamp(x.detach() - radius / 10 * gradient.sign(), low, high).float()
    return x


def shares_of(arrays, batch, dtype=torch.float32):
    """Of each gate, what its open branch costs more; gates at the end that decide about nothing are left out."""
    with torch.no_grad():
        shares = sdn_resnet56(Walk(arrays, len(batch)), batch.to(dtype)).shares()
    while shares[-1] == 0:
        shares.pop()
    return shares


def counted(arrays, shares):
    """The objective by the walk, which counts FLOPs on its way."""
    def function(x):
        gates = sdn_resnet56(Walk(arrays, len(x)), x).gates
        return -sum(share * gate.reach.sum() for share, gate in zip(shares, gates))
    return function


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("--save", required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--radius", type=float, required=True)
    parser.add_argument("--layout", choices=["nchw", "nhwc"], default="nchw")
    parser.add_argument("--folded", action="store_true")
    parser.add_argument("--counted", action="store_true", help="by the walk of test/pytorch, which counts FLOPs")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    layout = torch.channels_last if arguments.layout == "nhwc" else torch.contiguous_format
    arrays = read_arrays(arguments.weights)
    images = torch.tensor(np.load(arguments.images)[:arguments.count]).contiguous(memory_format=layout)
    batches = images.split(arguments.batch)
    shares = shares_of(arrays, batches[0])
    network = Network(arrays, len(shares), arguments.folded, layout)

    def function(x):
        return objective(network, shares, x)

    if arguments.counted:
        function = counted(arrays, shares)
    attack(function, batches[0], 3, arguments.radius)  # warms up
    points, times = [], []
    for batch in batches:
        start = time.perf_counter()
        points.append(attack(function, batch, arguments.steps, arguments.radius))
        times.append(time.perf_counter() - start)
    np.save(arguments.save, torch.cat(points).contiguous().numpy())
    print(json.dumps({"seconds_of_example": sum(times) / len(images), "times": times, "load": os.getloadavg()[0],
                      "version": torch.__version__}))


if __name__ == "__main__":
    main()
