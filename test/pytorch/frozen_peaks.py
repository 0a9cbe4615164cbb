#!/usr/bin/env python3
"""Writes the peak of live tensors in eager PyTorch training steps of which weights stay as they are (`requires_grad_(False)`) or
move in parameter groups, as operator_peaks.py does for single operators: the second step, with the program of the same step, which
test/lit/pytorch_memory.test estimates. Bytes as asked for; nothing is computed.
Needs a current torch. usage: frozen_peaks.py > docs/measurements/DATE-pytorch-frozen-peaks.json
"""
import collections
import functools

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

import eager_peaks


class Dense(nn.Module):
    """Layers of products alone: what autograd keeps is their operands."""
    shape, target = [64, 96], [64]
    text = """network net(x: tensor[n, c]) -> tensor[n, 10] {
  let first = dense(200)
  let second = dense(300)
  let last = dense(10)
  let h = tanh(first(x))
  return last(second(h))
}
"""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(96, 200), nn.Linear(200, 300), nn.Linear(300, 10)

    def forward(self, x):
        return self.last(self.second(torch.tanh(self.first(x))))


class Images(nn.Module):
    """Convolutions keep both operands as soon as one gradient is wanted; a product of elements keeps the other."""
    shape, target = [8, 3, 32, 32], [8]
    text = """network net(x: tensor[n, c, h, w]) -> tensor[n, 10] {
  let first = conv2d(out: 16, kernel: 3, pad: 1)
  let norm = batch_norm()
  let second = conv2d(out: 24, kernel: 3, pad: 1)
  let gate = conv2d(out: 24, kernel: 1)
  let last = dense(10)
  let features = relu(norm(first(x)))
  return second(features) * sigmoid(gate(features)) |> global_avg_pool |> last
}
"""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.second, self.gate, self.last = nn.Conv2d(16, 24, 3, padding=1), nn.Conv2d(16, 24, 1), nn.Linear(24, 10)

    def product(self, features):
        left, right = self.second(features), self.gate(features)
        del features  # a name of Python's keeps a tensor that nothing reads any more
        right = torch.sigmoid(right)
        return left * right

    def forward(self, x):
        return self.last(F.adaptive_avg_pool2d(self.product(F.relu(self.norm(self.first(x)))), 1).flatten(1))


def momentum(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=0.1)


def grouped(model):
    """One optimiser whose groups decay or do not."""
    biases = [one for name, one in model.named_parameters() if name.endswith("bias")]
    others = [one for name, one in model.named_parameters() if not name.endswith("bias")]
    return torch.optim.Adam([{"params": others, "weight_decay": 0.1}, {"params": biases}], lr=0.1)


SGD, ADAM = "sgd(lr: 0.1, momentum: 0.9)", "adam(lr: 0.1)"
DECAY = {"lr": 0.1, "weight_decay": 0.1}
# model, the optimiser of the task, clauses, what is frozen in PyTorch, its optimiser
STEPS = {
    "dense, all learn": (Dense, SGD, "", (), momentum),
    "dense, first frozen": (Dense, SGD, "freeze first", ("first",), momentum),
    "dense, middle frozen": (Dense, SGD, "freeze second", ("second",), momentum),
    "dense, last frozen": (Dense, ADAM, "freeze last", ("last",), adam),
    "dense, weights frozen": (Dense, SGD, 'freeze "*.weight"', ("first.weight", "second.weight", "last.weight"), momentum),
    "dense, biases frozen": (Dense, ADAM, 'freeze "*.bias"', ("first.bias", "second.bias", "last.bias"), adam),
    "dense, groups": (Dense, "adam(lr: 0.1, weight_decay: 0.1)", 'optimizer adam(lr: 0.1) on "*.bias"', (), grouped),
    "dense, adamw": (Dense, "adamw(lr: 0.1, weight_decay: 0.1)", "", (), lambda model: torch.optim.AdamW(model.parameters(), **DECAY)),
    "dense, adam": (Dense, "adam(lr: 0.1, weight_decay: 0.1)", "", (), lambda model: torch.optim.Adam(model.parameters(), **DECAY)),
    "dense, rmsprop": (Dense, "rmsprop(lr: 0.1, weight_decay: 0.1)", "", (), lambda model: torch.optim.RMSprop(model.parameters(), **DECAY)),
    "dense, adagrad": (Dense, "adagrad(lr: 0.1)", "", (), lambda model: torch.optim.Adagrad(model.parameters(), lr=0.1)),
    "dense, nesterov": (Dense, "sgd(lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.1)", "", (),
                        lambda model: torch.optim.SGD(model.parameters(), momentum=0.9, nesterov=True, **DECAY)),
    "images, all learn": (Images, SGD, "", (), momentum),
    "images, first frozen": (Images, SGD, "freeze first", ("first",), momentum),
    "images, norm frozen": (Images, ADAM, "freeze norm", ("norm",), adam),
    "images, gate frozen": (Images, SGD, "freeze gate", ("gate",), momentum),
    "images, stem frozen": (Images, ADAM, "freeze first, norm", ("first", "norm"), adam),
    "images, head learns": (Images, ADAM, "freeze first, norm, second, gate", ("first", "norm", "second", "gate"), adam),
    "images, biases learn": (Images, SGD, 'freeze "*.weight"', ("first.weight", "norm.weight", "second.weight", "gate.weight", "last.weight"), momentum),
    "images, groups": (Images, "adam(lr: 0.1, weight_decay: 0.1)", 'optimizer adam(lr: 0.1) on "*.bias"', (), grouped),
}


def step(kind, frozen, optimizer):
    model = kind().train()
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not (frozen and name.startswith(frozen)))
    return model, optimizer(model), torch.empty(kind.shape), torch.empty(kind.target, dtype=torch.int64)


def hook_where_there_is_a_gradient():
    """MemTracker asks every parameter for hooks on its gradient, and PyTorch refuses those of one that has none."""
    for name in ("register_hook", "register_post_accumulate_grad_hook"):
        register = getattr(torch.Tensor, name)

        def register_some(tensor, hook, register=register):
            return register(tensor, hook) if tensor.requires_grad else RemovableHandle(collections.OrderedDict())

        setattr(torch.Tensor, name, register_some)


def program(kind, optimizer, clauses):
    return (f"{kind.text}design d of net {{\n  input x: {kind.shape}\n  task train(loss: cross_entropy, optimizer: {optimizer})\n"
            f"  {clauses}\n}}\n")


if __name__ == "__main__":
    hook_where_there_is_a_gradient()
    eager_peaks.write({name: (program(kind, text, clauses), functools.partial(step, kind, frozen, optimizer))
                       for name, (kind, text, clauses, frozen, optimizer) in STEPS.items()})
