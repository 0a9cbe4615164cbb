#!/usr/bin/env python3
"""Whether `tbemc fit` finds what trying every batch finds, and how long it takes: networks and memories, on CUDA PyTorch's allocator.

usage: fit.py TBEMC [PAIRS]. Prints a line a pair and a summary; exits with 1 where one differs.
"""
import json
import subprocess
import sys
import time

NETWORKS = [("cifar_resnet(depth: 20)", 32), ("resnet(depth: 18)", 224), ("vgg(depth: 11)", 224), ("mobilenet_v2()", 224), ("alexnet()", 224),
            ("resnet(depth: 50)", 224), ("squeezenet()", 224), ("shufflenet_v2()", 224), ("vit(layers: 4, width: 192, heads: 3)", 224),
            ("densenet()", 224)]
# of a V100 or T4, RTX 3060, half and a quarter of the first, and one that holds little
MEMORIES = ["2GiB", "4GiB", "8GiB", "12GiB", "16GiB"]
OPTIMIZERS = ["sgd(lr: 0.1, momentum: 0.9)", "adam()"]


def fit(tbemc, network, size, memory, optimizer, *more):
    start = time.perf_counter()
    done = subprocess.run([tbemc, "fit", "-e", network, "--input", f"image=batch,3,{size},{size}", "--task",
                           f"train(loss: cross_entropy, optimizer: {optimizer})", "--on", "pytorch", "--max", memory, "--json", *more],
                          capture_output=True, text=True)
    if done.returncode not in (0, 5):
        sys.exit(done.stderr)
    return json.loads(done.stdout), time.perf_counter() - start


def main():
    tbemc = sys.argv[1]
    pairs = [(n, s, m) for m in MEMORIES for n, s in NETWORKS][:int(sys.argv[2]) if len(sys.argv) > 2 else None]
    seconds, different = [], 0
    for i, (network, size, memory) in enumerate(pairs):
        optimizer = OPTIMIZERS[i % 2]
        found, took = fit(tbemc, network, size, memory, optimizer)
        every, whole = fit(tbemc, network, size, memory, optimizer, "--every")
        same = found["largest"] == every["largest"]
        different += not same
        seconds.append(took)
        print(f"{network:38} {memory:>6} {optimizer[:4]} batch {found['largest']} of {found['tried']} tried, {took:.3f} s"
              + (f"; every: {whole:.1f} s" if same else f"; every batch tried: {every['largest']}"), flush=True)
    seconds.sort()
    print(f"{len(pairs) - different} of {len(pairs)} agree with trying every batch; median {seconds[len(seconds) // 2]:.3f} s, worst {seconds[-1]:.3f} s,"
          " each a process of its own")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
