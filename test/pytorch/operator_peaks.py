#!/usr/bin/env python3
"""Writes the peak of live tensors in an eager PyTorch training step around one operator, as live_peaks.py does for torchvision's
networks: 1x1 convolutions before and behind it, cross entropy over pixels, gradient descent, the second step. Each row also has the
program of the same step, which test/lit/pytorch_memory.test estimates. Bytes as asked for; nothing is computed.
Needs a current torch. usage: operator_peaks.py > docs/measurements/DATE-pytorch-operator-peaks.json
"""
import functools

import torch
from torch import nn
from torch.nn import functional as F

import eager_peaks

SHAPE, CLASSES = [2, 8, 16, 16], 5
# the operator in the language, applied to x; the same in PyTorch
OPERATORS = {
    "none": ("x", lambda x: x),
    "relu": ("relu(x)", torch.relu),
    "nearest": ("upsample2d(x, size: [32, 32])", lambda x: F.interpolate(x, size=(32, 32))),
    "bilinear": ('upsample2d(x, size: [32, 32], mode: "bilinear")', lambda x: F.interpolate(x, size=(32, 32), mode="bilinear")),
    "bilinear of corners": ('upsample2d(x, size: [24, 40], mode: "bilinear", align_corners: true)',
                            lambda x: F.interpolate(x, size=(24, 40), mode="bilinear", align_corners=True)),
    "bilinear, smaller": ('upsample2d(x, size: [8, 8], mode: "bilinear")', lambda x: F.interpolate(x, size=(8, 8), mode="bilinear")),
    "reflected": ("pad_reflect(x, low: [0, 0, 2, 3], high: [0, 0, 1, 4])", lambda x: F.pad(x, (3, 4, 2, 1), mode="reflect")),
    "continued": ("pad_edge(x, low: [0, 0, 2, 3], high: [0, 0, 1, 4])", lambda x: F.pad(x, (3, 4, 2, 1), mode="replicate")),
    "padded": ("pad(x, low: [0, 0, 2, 3], high: [0, 0, 1, 4])", lambda x: F.pad(x, (3, 4, 2, 1))),
    "shuffled": ("pixel_shuffle(x, factor: 2)", lambda x: F.pixel_shuffle(x, 2)),
    "selu": ("selu(x)", F.selu),
    "clamp": ("clamp(x, low: -1, high: 1)", lambda x: x.clamp(-1, 1)),
    "roll": ("roll(x, shift: [3, 5], axis: [2, 3])", lambda x: x.roll((3, 5), (2, 3))),
}


class Net(nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.operator, self.first = operator, nn.Conv2d(SHAPE[1], SHAPE[1], 1)
        with torch.no_grad():
            channels = operator(torch.empty(SHAPE)).shape[1]
        self.last = nn.Conv2d(channels, CLASSES, 1)

    def forward(self, x):
        return self.last(self.operator(self.first(x)))


def step(operator):
    model = Net(operator).train()
    image = torch.empty(SHAPE)
    labels = torch.empty([SHAPE[0], *model(image).shape[2:]], dtype=torch.int64)
    return model, torch.optim.SGD(model.parameters(), lr=0.1), image, labels


def program(text):
    return (f"network net(x: tensor[n, c, h, w]) -> tensor {{\n  let first = conv2d(out: {SHAPE[1]}, kernel: 1)\n"
            f"  let last = conv2d(out: {CLASSES}, kernel: 1)\n  return first(x) |> around |> last\n}}\n"
            f"block around(x: tensor[n, c, h, w]) -> tensor {{ return {text} }}\n"
            f"design d of net {{\n  input x: {SHAPE}\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}}\n")


if __name__ == "__main__":
    eager_peaks.write({name: (program(text), functools.partial(step, operator)) for name, (text, operator) in OPERATORS.items()})
