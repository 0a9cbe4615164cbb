#!/usr/bin/env python3
"""Writes what PyTorch's own allocator counts in two eager training steps of multi-layer perceptrons on the stand-in card: operators,
autograd, optimisers, cuBLAS's workspaces and the allocator are PyTorch's; kernels and matrix products return at once. No card is needed.

Needs a Python with torch built for CUDA, and g++.
usage: eager_steps.py > docs/measurements/DATE-pytorch-standin-steps.json
       eager_steps.py --clip > docs/measurements/DATE-pytorch-standin-steps-clip.json   the norm of the gradients is limited
"""
import datetime
import json
import os
import sys

import compare_allocator

# widths, features, batch
NETWORKS = [([1000], 1000, 64), ([1000], 1000, 1), ([4096, 4096, 10], 784, 256), ([512, 1, 300], 512, 128), ([2048, 2048, 2048, 1000], 2048, 4096), ([7, 9], 5, 3)]
OPTIMIZERS = ["sgd", "sgd momentum", "adam", "adamw fused"]
OPTIONS = ["", "expandable_segments:True"]
CAPABILITIES = [8, 9]
CLIPS = "--clip" in sys.argv[1:]


def step(net, x, labels, name, optimizer=None):
    import torch
    weights = net.parameters()
    optimizer = optimizer or {"sgd": lambda: torch.optim.SGD(weights, lr=0.01), "sgd momentum": lambda: torch.optim.SGD(weights, lr=0.01, momentum=0.9),
                              "adam": lambda: torch.optim.Adam(weights), "adamw fused": lambda: torch.optim.AdamW(weights, fused=True)}[name]()
    optimizer.zero_grad(set_to_none=True)
    torch.nn.functional.cross_entropy(net(x), labels).backward()
    if CLIPS:
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return optimizer


def peaks(widths, features, batch, name, options):
    import torch
    getattr(torch._C, "_accelerator_setAllocatorSettings", torch.cuda.memory._set_allocator_settings)(options)  # 2.9 has the second alone
    torch.cuda.init()
    layers, inputs = [], features
    with torch.device("cuda"):
        for i, width in enumerate(widths):
            layers += [torch.nn.Linear(inputs, width)] + ([torch.nn.ReLU()] if i + 1 < len(widths) else [])
            inputs = width
        net = torch.nn.Sequential(*layers)
        x, labels = torch.empty(batch, features), torch.empty(batch, dtype=torch.int64)
    optimizer = step(net, x, labels, name)
    step(net, x, labels, name, optimizer)
    counts = torch.cuda.memory_stats()
    return {kind: counts[f"{kind}_bytes.all.peak"] for kind in ("requested", "allocated", "reserved")}


def rows():
    """A process for each: it starts with an empty allocator."""
    import torch._dynamo  # noqa: F401  what optimisers load, once for all
    for major in CAPABILITIES:
        os.environ["STANDIN_MAJOR"] = str(major)
        for network in NETWORKS:
            for optimizer in OPTIMIZERS:
                for options in OPTIONS[:1] if CLIPS else OPTIONS:
                    reader, writer = os.pipe()
                    compare_allocator.in_child(lambda: os.write(writer, json.dumps(peaks(*network, optimizer, options)).encode()))
                    os.close(writer)
                    with os.fdopen(reader) as answer:
                        widths, features, batch = network
                        yield {"capability": major, "widths": widths, "features": features, "batch": batch, "optimizer": optimizer,
                               "options": options, "peak": json.load(answer)}


def main():
    compare_allocator.on_standin(CAPABILITIES[0])
    import torch
    print(json.dumps({"date": datetime.date.today().isoformat(), "torch": torch.__version__, "clip_norm": 1 if CLIPS else None, "rows": list(rows())}, indent=1))


if __name__ == "__main__":
    main()
