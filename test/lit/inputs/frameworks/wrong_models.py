"""Models that cannot be imported, each for another reason; wrong_imports.py says what is said of each."""
import ctypes
import os
import sys
import time

import numpy as np
import torch
from torch import nn


class Raises(nn.Module):
    def __init__(self):
        super().__init__()
        raise ValueError("no weights are there")


class Sized(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(3, width)

    def forward(self, x):
        return self.dense(x)


class Recurs(nn.Module):
    def forward(self, x):
        return self.forward(x + 1)


class Untraced(nn.Module):
    """No `forward` at all."""


# ---- What depends on values ----------------------------------------------------------------------------------------------


class Depends(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


class Waits(nn.Module):
    def forward(self, x):
        while x.max() > 1:
            x = x / 2
        return x


class Counts(nn.Module):
    def forward(self, x):
        for _ in range(int(x.sum())):
            x = x + 1
        return x


class Selects(nn.Module):
    def forward(self, x):
        return x[x > 0]


class Lists(nn.Module):
    def forward(self, x):
        return x * x.flatten().tolist()[0]


class Fraction(nn.Module):
    def forward(self, x):
        return x * (x.shape[0] / 3)


# ---- What has no form ----------------------------------------------------------------------------------------------------


class Lacks(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, 1) + torch.cumprod(x, 1) + torch.fft.fft(x).real


class WritesPart(nn.Module):
    def forward(self, x):
        y = x * 2
        y[:, ::2] = 0
        return y


class Draws(nn.Module):
    def forward(self, x):
        return torch.bernoulli(torch.sigmoid(x))


class Numpy(nn.Module):
    def forward(self, x):
        return torch.from_numpy(np.sin(x.numpy()))


# ---- Sizes, types, results -----------------------------------------------------------------------------------------------


class WrongShape(nn.Module):
    def forward(self, x):
        return x @ x


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 3)

    def forward(self, tokens):
        return self.words(tokens)


class Two(nn.Module):
    def forward(self, x, y):
        return x + y


class Numbers(nn.Module):
    def forward(self, x):
        return x.shape[1], "two"


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.LazyLinear(4)

    def forward(self, x):
        return self.dense(x)


# ---- What ends Python, or does not ---------------------------------------------------------------------------------------


def prints():
    print("{" * 1000)
    sys.stdout.flush()
    os.write(1, b"more\n")
    return nn.Linear(3, 2)


def hangs():
    time.sleep(1000)


class HangsInForward(nn.Module):
    def forward(self, x):
        while True:
            time.sleep(1)


def leaves():
    sys.exit(0)


def interrupts():
    raise KeyboardInterrupt


def crashes():
    os.abort()


def reads_nowhere():
    return ctypes.string_at(0)


def eats_memory():
    return [torch.empty(1 << 28) for _ in range(1000)]  # of address space: nothing is written into it


def number():
    return 3


class Plain:
    def forward(self, x):
        return x


constant = 3


class Unknown(nn.Module):
    """Imported with opaque operators."""
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 5)
        self.last = nn.Linear(5, 2)

    def forward(self, x):
        y = torch.special.bessel_j0(self.first(x))
        return self.last(torch.special.bessel_j0(y) * y)
