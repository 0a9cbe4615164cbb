#!/usr/bin/env python3
"""Prints the peak of live tensors in an eager PyTorch training step whose first input, first two inputs, ... require gradients, as
live_peaks.py does for torchvision's networks: the numbers of test/unit/estimate/WantedTest.cpp. Bytes as asked for, second step.
Needs a current torch. usage: input_peaks.py
"""
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker


class Net(nn.Module):
    def __init__(self, forward, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.expression = forward

    def forward(self, *inputs):
        return self.expression(self, *inputs)


# name: network, shapes of its inputs
NETWORKS = {
    "dense": (lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), [(32, 64)]),
    "wide": (lambda: nn.Sequential(nn.Linear(4096, 16), nn.ReLU(), nn.Linear(16, 10)), [(512, 4096)]),
    "conv": (lambda: nn.Sequential(nn.Conv2d(16, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                   nn.Linear(512, 10)), [(8, 16, 32, 32)]),
    "residual": (lambda: Net(lambda net, x: net.b(x + net.a(x)), a=nn.Linear(64, 64), b=nn.Linear(64, 10)), [(2048, 64)]),
    "twice": (lambda: Net(lambda net, x: net.b(torch.relu(net.a(x)) + torch.relu(net.c(x))), a=nn.Linear(256, 16),
                          c=nn.Linear(256, 16), b=nn.Linear(16, 10)), [(2048, 256)]),
    "product": (lambda: Net(lambda net, x, y: net.b(x * y), b=nn.Linear(64, 10)), [(2048, 64)] * 2),
    "sum": (lambda: Net(lambda net, x, y, z: net.b(x + y + z), b=nn.Linear(64, 10)), [(2048, 64)] * 3),
}


def peak(make, shapes, wanted):
    with FakeTensorMode(), torch.device("cpu"):
        model = make().train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = [torch.empty(*shape).requires_grad_(number < wanted) for number, shape in enumerate(shapes)]
        labels = torch.empty(shapes[0][0], dtype=torch.int64)
        tracker = MemTracker()
        tracker.track_external(model, optimizer, *inputs, labels)
        with tracker:
            for _ in range(2):
                optimizer.zero_grad(set_to_none=True)
                for one in inputs:
                    one.grad = None
                tracker.reset_mod_stats()
                loss = nn.functional.cross_entropy(model(*inputs), labels)
                loss.backward()
                del loss
                optimizer.step()
        snapshot = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]
    return next(count for kind, count in snapshot.items() if getattr(kind, "value", kind) == "Total")


for name, (make, shapes) in NETWORKS.items():
    print(name, [peak(make, shapes, wanted) for wanted in range(1, len(shapes) + 1)])
