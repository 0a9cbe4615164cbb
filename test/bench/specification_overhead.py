"""What @tbem.spec costs a training step: resnet18 of torchvision at batch 1, with a specification on the model and on each of its
blocks, against the same model without. Paired rounds in random order, one thread, processor time, so that neighbours do not count.

    PYTHONPATH=tools/python TBEM_LIBRARY=.. python test/bench/specification_overhead.py [ROUNDS [SIZE]]

Prints one JSON object."""
import json
import random
import statistics
import sys
import time

import torch
import torchvision

import tbem

rounds, size = int(sys.argv[1]) if len(sys.argv) > 1 else 40, int(sys.argv[2]) if len(sys.argv) > 2 else 64
STEPS = 2  # of a round, of each model
torch.set_num_threads(1)
torch.manual_seed(0)
Block = torchvision.models.resnet.BasicBlock
plain_block, plain_net = Block.forward, torchvision.models.ResNet.forward
with_block = tbem.spec("x: tensor[n, c, h, w] -> tensor[n, d, i, j]", post="i <= h and j <= w")(plain_block)
with_net = tbem.spec("x: tensor[n, 3, h, w] -> tensor[n, 1000]", pre="h mod 32 = 0 and w mod 32 = 0")(plain_net)
model = torchvision.models.resnet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
image, label = torch.randn(1, 3, size, size), torch.tensor([1])


def step():
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(image), label).backward()
    optimizer.step()


def seconds(specified):
    Block.forward, torchvision.models.ResNet.forward = (with_block, with_net) if specified else (plain_block, plain_net)
    begin = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - begin) / STEPS


seconds(False), seconds(True)
order = random.Random(0)
ratios, steps = [], []
for _ in range(rounds):
    first = order.random() < 0.5
    times = {first: seconds(first)}
    times[not first] = seconds(not first)
    ratios.append(times[True] / times[False])
    steps.append(times[False])


def call(function, count=20000):
    x = torch.zeros(1, 3, size, size)
    begin = time.thread_time()
    for _ in range(count):
        function(x)
    return (time.thread_time() - begin) / count


nothing = lambda x: x
looked = tbem.spec("x: tensor[n, 3, h, w] -> tensor[n, 3, h, w]", pre="h mod 32 = 0")(nothing)
each = statistics.median(call(looked) - call(nothing) for _ in range(7))
calls = 1 + sum(isinstance(module, Block) for module in model.modules())
print(json.dumps({
    "model": "torchvision resnet18", "batch": 1, "size": size, "torch": torch.__version__, "rounds": rounds, "specified_calls": calls,
    "step_seconds": round(statistics.median(steps), 5), "ratio_median": round(statistics.median(ratios), 4),
    "ratio_quartiles": [round(value, 4) for value in statistics.quantiles(ratios, n=4)[::2]],
    "microseconds_a_call": round(1e6 * each, 2), "share_of_a_step": round(calls * each / statistics.median(steps), 6)}))
