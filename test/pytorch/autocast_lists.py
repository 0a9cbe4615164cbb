#!/usr/bin/env python3
"""Writes in which type PyTorch's operators compute under torch.autocast in bfloat16 when they read bf16, on CUDA and on the processor: fake
tensors, no data, no card (a stand-in answers that there is one: allocator/). Operators are named as in std.nn.

Needs a Python with torch built for CUDA, and g++.
usage: autocast_lists.py > docs/measurements/DATE-pytorch-autocast.json
"""
import datetime
import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "allocator"))
import compare_allocator  # noqa: E402

# of x: bf16 [4, 8, 8, 8]
OPERATORS = {
    "layer_norm": lambda x: F.layer_norm(x, [8]), "group_norm": lambda x: F.group_norm(x, 2), "instance_norm": lambda x: F.instance_norm(x),
    "rms_norm": lambda x: F.rms_norm(x, [8]), "batch_norm": lambda x: F.batch_norm(x, torch.zeros(8), torch.ones(8), training=True),
    "softmax": lambda x: F.softmax(x, 1), "log_softmax": lambda x: F.log_softmax(x, 1), "exp": torch.exp, "expm1": torch.expm1, "log": torch.log,
    "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "pow": lambda x: x**3, "square": torch.square, "abs": torch.abs, "neg": torch.neg,
    "scalar_div": lambda x: 1 / x, "softplus": F.softplus, "mish": F.mish, "elu": F.elu, "selu": F.selu, "gelu": F.gelu, "silu": F.silu,
    "hard_swish": F.hardswish, "hard_sigmoid": F.hardsigmoid, "hard_tanh": F.hardtanh, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": F.relu,
    "relu6": F.relu6, "leaky_relu": F.leaky_relu, "clamp": lambda x: x.clamp(0, 1), "dropout": F.dropout, "sum": lambda x: x.sum((2, 3)),
    "mean": lambda x: x.mean((2, 3)), "max": lambda x: x.amax((2, 3)), "min": lambda x: x.amin((2, 3)), "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2), "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 1),
    "upsample2d": lambda x: F.interpolate(x, scale_factor=2), "pad": lambda x: F.pad(x, [1, 1, 1, 1]),
    "pad_reflect": lambda x: F.pad(x, [1, 1, 1, 1], mode="reflect"), "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "add": lambda x: x + x, "mul": lambda x: x * x, "maximum": lambda x: torch.maximum(x, x), "concat": lambda x: torch.cat([x, x]),
}


def listed(device):
    types = {}
    with FakeTensorMode(), torch.device(device):
        x = torch.empty(4, 8, 8, 8, dtype=torch.bfloat16)
        for name, function in OPERATORS.items():
            with torch.autocast(device, dtype=torch.bfloat16):
                types[name] = {torch.bfloat16: "bf16", torch.float32: "f32"}[function(x).dtype]
    return types


def main():
    compare_allocator.on_standin(9)
    cuda, cpu = listed("cuda"), listed("cpu")
    json.dump({"date": datetime.date.today().isoformat(), "what": "types of results of operators that read bf16, under torch.autocast in bfloat16",
               "torch": torch.__version__, "rows": [{"operator": name, "cuda": cuda[name], "cpu": cpu[name]} for name in OPERATORS]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
