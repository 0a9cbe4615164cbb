"""Models that cannot be imported, each for another reason."""
import os
import sys
import time

import torch
from torch import nn


class Raises(nn.Module):
    def __init__(self):
        super().__init__()
        raise ValueError("no weights are there")


class Depends(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


class Lacks(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, 1) + torch.cumsum(x, 1) + torch.fft.fft(x).real


class WritesPart(nn.Module):
    def forward(self, x):
        y = x * 2
        y[:, 0] = 0
        return y


class WrongShape(nn.Module):
    def forward(self, x):
        return x @ x


def number():
    return 3


def prints():
    print("{" * 1000)
    sys.stdout.flush()
    os.write(1, b"more\n")
    return nn.Linear(3, 2)


def hangs():
    time.sleep(1000)


def leaves():
    sys.exit(0)


def crashes():
    os.abort()


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
