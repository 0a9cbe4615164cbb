#!/usr/bin/env python3
"""Writes how many kernels eager PyTorch starts in a training step of ResNet-50 on the stand-in card: those of its own are counted where
it starts them, and cuDNN, which is not played, counts as one kernel for each convolution, each gradient of one and each normalisation,
and one each way. No card is needed.

Needs a Python with torch built for CUDA and torchvision, and g++.
usage: eager_launches.py BATCH SIZE... > docs/measurements/DATE-pytorch-launches.json
"""
import collections
import ctypes
import datetime
import json
import os
import sys

import compare_allocator

CAPABILITY = 9


def counting(counts, launched):
    """A mode that counts the kernels of each operator; cuDNN's are not run."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    aten = torch.ops.aten

    def like(tensor, wanted):
        return torch.empty_like(tensor) if wanted else None

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before, of_cudnn = launched(), 0
            if func is aten.convolution.default:
                with torch.device("meta"):
                    shape = func(*(a.to("meta") if isinstance(a, torch.Tensor) else a for a in args)).shape
                result, of_cudnn = torch.empty(shape, device=args[0].device), 1
            elif func is aten.convolution_backward.default:
                of_input, of_weight, of_bias = args[-1]
                assert not of_bias
                result = like(args[1], of_input), like(args[2], of_weight), None
                of_cudnn = of_input + of_weight
            elif func is aten.cudnn_batch_norm.default:
                result = torch.empty_like(args[0]), torch.empty_like(args[1]), torch.empty_like(args[1]), torch.empty(0, device=args[0].device)
                of_cudnn = 1
            elif func is aten.cudnn_batch_norm_backward.default:
                result, of_cudnn = (torch.empty_like(args[0]), torch.empty_like(args[2]), torch.empty_like(args[2])), 1
            else:
                result = func(*args, **(kwargs or {}))
            name = str(func).removeprefix("aten.").removesuffix(".default")
            assert "batch_norm" not in name or of_cudnn, name
            counts[name] += launched() - before + of_cudnn
            return result

    return Counting()


def step_of(batch, size, launched):
    import torch
    import torchvision
    with torch.device("cuda"):
        net = torchvision.models.resnet50()
        x, labels = torch.empty(batch, 3, size, size), torch.empty(batch, dtype=torch.int64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step():
        counts = collections.Counter()
        with counting(counts, launched):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), labels).backward()
            optimizer.step()
        return counts

    step()  # the first makes momenta
    counts = step()
    return {"batch": batch, "size": size, "launches": sum(counts.values()),
            "by_operator": {name: count for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count}}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    compare_allocator.on_standin(CAPABILITY)
    import torch
    batch, *sizes = map(int, sys.argv[1:])
    card = ctypes.CDLL(None)
    card.standin_set.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
    card.standin_launched.restype = ctypes.c_uint64
    card.standin_set(1 << 40, 1 << 40, 1)
    rows = [step_of(batch, size, card.standin_launched) for size in sizes]
    print(json.dumps({"date": datetime.date.today().isoformat(), "torch": torch.__version__, "network": "torchvision resnet50",
                      "optimizer": "sgd with momentum", "rows": rows}, indent=1), flush=True)
    os._exit(0)  # PyTorch's threads mind that there is no card to take leave of


if __name__ == "__main__":
    main()
