#!/usr/bin/env python3
"""One process of PyTorch for step_vs_pytorch.py: train steps of a network, timed one by one. Prints one JSON object.

The networks are torchvision's, or written here from the papers that stdlib/ names; `nn.Module`s as PyTorch's users write them.
"""
import argparse
import json
import time

import torch
import torch.nn.functional as F
from torch import nn


def small_vgg(depth, width, classes=10):
    """Simonyan & Zisserman 2014, table 1, with batch normalisation, for 32x32 images."""
    counts = {11: [1, 1, 2, 2, 2], 13: [2, 2, 2, 2, 2], 16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}[depth]
    layers, channels = [], 3
    for stage, count in enumerate(counts):
        out = width * [1, 2, 4, 8, 8][stage]
        for _ in range(count):
            layers += [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)]
            channels = out
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels, classes))


class GptBlock(nn.Module):
    """Radford et al. 2019: layer normalisation before each part."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (y.view(n, t, self.heads, d // self.heads).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, width, layers, heads):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.token.weight)


def build(name, a):
    import torchvision.models as vision
    if name == "resnet18":
        return vision.resnet18()
    if name == "mobilenet_v2":
        return vision.mobilenet_v2(dropout=0.0)
    if name == "vgg16_bn":
        return small_vgg(16, 64)
    return Gpt(a.vocabulary, a.tokens, 256, 4, 4)


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--layout", choices=["nchw", "nhwc"], default="nchw")
    parser.add_argument("--autocast", action="store_true", help="forward and loss under torch.autocast in bf16")
    parser.add_argument("--plain", action="store_true", help="the optimiser without fused=True")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    F.relu(torch.zeros(8))  # what the library allocates on first use is no part of a step
    bare = status("VmRSS")
    model = build(a.network, a).train()
    if a.network.startswith("gpt"):
        data = torch.randint(0, a.vocabulary, (a.batch, a.tokens))
        target = torch.randint(0, a.vocabulary, (a.batch * a.tokens,))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=not a.plain)
    else:
        data = torch.randn(a.batch, 3, a.size, a.size)
        target = torch.randint(0, 10 if a.network == "vgg16_bn" else 1000, (a.batch,))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=not a.plain)
        if a.layout == "nhwc":
            model, data = model.to(memory_format=torch.channels_last), data.to(memory_format=torch.channels_last)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    baseline, times = status("VmRSS"), []
    for _ in range(a.steps + 5):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.autocast):
            output = model(data)
            loss = F.cross_entropy(output.view(-1, output.shape[-1]), target)
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    times = sorted(times[5:])
    print(json.dumps({"median": times[len(times) // 2], "p05": times[len(times) // 20], "version": torch.__version__, "bare": bare, "baseline": baseline,
                      "peak": status("VmHWM")}))


if __name__ == "__main__":
    main()
