#!/usr/bin/env python3
"""Writes the peak of live tensors in eager PyTorch training steps in which the order of elements in memory decides what is copied:
products of heads, masks of attention, axes that change places. Tensors are fake ones of CUDA, beside a card that is not there
(test/pytorch/allocator): the second step of gradient descent, each with the program of the same step, which
test/lit/pytorch_memory.test estimates.
Needs torch built for CUDA, and g++. usage: layout_peaks.py > docs/measurements/DATE-pytorch-layout-peaks.json
"""
import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "allocator"))
import compare_allocator

compare_allocator.on_standin(9)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import eager_peaks  # noqa: E402

SAMPLES, HEADS, SIZE, CLASSES = 16, 4, 16, 10
WIDTH = HEADS * SIZE


def explicit(q, k, v, _):
    return ((q * 0.25) @ k.transpose(-2, -1)).softmax(-1) @ v


EXPLICIT = "matmul(softmax(matmul(q * 0.25, transpose(k)), axis: -1), v)"
# name: places; the operator on heads of queries, keys, values [n, h, l, d] and a weight [h, l, l]; the same in PyTorch
STEPS = {
    "attention": (49, "scaled_dot_product_attention(q, k, v)", lambda q, k, v, _: F.scaled_dot_product_attention(q, k, v)),
    "attention written out": (49, EXPLICIT, explicit),
    "a bias of aligned rows": (48, "masked_attention(q, k, v, bias)",
                               lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, attn_mask=b)),
    "a bias of other rows": (49, "masked_attention(q, k, v, bias)",
                             lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, attn_mask=b)),
    "a bias of each sample": (49, "masked_attention(q, k, v, sigmoid(bias) * reshape(mean(q, axis: [2, 3]), shape: [n, 4, 1, 1]))",
                              lambda q, k, v, b: F.scaled_dot_product_attention(
                                  q, k, v, attn_mask=b.sigmoid() * q.mean((2, 3)).reshape(-1, HEADS, 1, 1))),
    "a mask without gradient": (49, "masked_attention(q, k, v, fill(shape: [49, 49], value: -1))",
                                lambda q, k, v, _: F.scaled_dot_product_attention(q, k, v, attn_mask=q.new_full([49, 49], -1.0))),
    "a factor that samples share": (64, "matmul(matmul(q, slice(k, start: [0, 0, 0, 0], size: [1, 4, 64, 16]), transpose_b: true), v)",
                                    lambda q, k, v, _: q @ k[:1].mT @ v),
    "heads that share keys": (64, "matmul(matmul(q, slice(k, start: [0, 0, 0, 0], size: [n, 1, 64, 16]), transpose_b: true), v)",
                              lambda q, k, v, _: q @ k[:, :1].mT @ v),
    "an axis split behind a turn": (64, "permute(reshape(permute(q, order: [0, 1, 3, 2]), shape: [n, 4, 16, 8, 8]), order: [0, 1, 3, 4, 2])"
                                    " |> reshape(shape: [n, 4, 64, 16]) |> gelu |> mul(k) |> mul(v)",
                                    lambda q, k, v, _: F.gelu(q.transpose(2, 3).reshape(-1, 4, 16, 8, 8).permute(0, 1, 3, 4, 2)
                                                              .reshape(-1, 4, 64, 16)) * k * v),
    "axes joined behind a turn": (64, "permute(q, order: [0, 2, 3, 1]) |> reshape(shape: [n, 64, 64]) |> gelu"
                                  " |> reshape(shape: [n, 4, 64, 16]) |> mul(k) |> mul(v)",
                                  lambda q, k, v, _: F.gelu(q.permute(0, 2, 3, 1).reshape(-1, 64, 64)).reshape(-1, 4, 64, 16) * k * v),
}


class Net(nn.Module):
    def __init__(self, places, operator, has_bias):
        super().__init__()
        self.operator, self.inside, self.outside = operator, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, CLASSES)
        self.bias = nn.Parameter(torch.empty(HEADS, places, places)) if has_bias else None

    def forward(self, x):
        n, places = x.shape[:2]
        q, k, v = self.inside(x).reshape(n, places, 3, HEADS, SIZE).permute(2, 0, 3, 1, 4).unbind(0)
        heads = self.operator(q, k, v, self.bias)
        return self.outside(heads.transpose(1, 2).reshape(n, places, WIDTH).mean(1))


def step(places, operator, has_bias):
    model = Net(places, operator, has_bias).train()
    labels = torch.empty([SAMPLES], dtype=torch.int64)
    return model, torch.optim.SGD(model.parameters(), lr=0.1), torch.empty([SAMPLES, places, WIDTH]), labels


def program(places, text):
    whole = f"n, {HEADS}, {places}, {SIZE}"
    parts = "".join(f"  let {name} = reshape(slice(parts, start: [{i}, 0, 0, 0, 0], size: [1, {whole}]), shape: [{whole}])\n"
                    for i, name in enumerate("qkv") if re.search(rf"\b{name}\b", text))
    bias = f"  weight bias: tensor[{HEADS}, {places}, {places}] init zeros\n" if "bias" in text else ""
    return (f"network net(x: tensor[n, {places}, {WIDTH}]) -> tensor {{\n{bias}"
            f"  let inside = dense({3 * WIDTH})\n  let outside = dense({CLASSES})\n"
            f"  let parts = inside(x) |> reshape(shape: [n, {places}, 3, {HEADS}, {SIZE}]) |> permute(order: [2, 0, 3, 1, 4])\n{parts}"
            f"  return {text} |> permute(order: [0, 2, 1, 3]) |> reshape(shape: [n, {places}, {WIDTH}]) |> mean(axis: 1) |> outside\n}}\n"
            f"design d of net {{\n  input x: [{SAMPLES}, {places}, {WIDTH}]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}}\n")


if __name__ == "__main__":
    eager_peaks.write({name: (program(places, text), functools.partial(step, places, operator, "bias" in text))
                       for name, (places, text, operator) in STEPS.items()}, "cuda")
