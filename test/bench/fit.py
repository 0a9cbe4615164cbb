#!/usr/bin/env python3
"""Whether `tbemc fit` finds what trying every batch finds, and the processor time that it takes: networks and memories, on CUDA PyTorch's
allocator. A process of its own each, the least of some rounds over all pairs: other work on the machine adds to each.

usage: fit.py TBEMC [PAIRS] [--others] [--runs N] [--device NAME] [--cudnn DIR] [--no-every] [--json]
Prints a line a pair and a summary, or the whole as JSON; exits with 1 where one differs.
"""
import argparse
import json
import os
import subprocess
import sys

NETWORKS = [("cifar_resnet(depth: 20)", 32), ("resnet(depth: 18)", 224), ("vgg(depth: 11)", 224), ("mobilenet_v2()", 224), ("alexnet()", 224),
            ("resnet(depth: 50)", 224), ("squeezenet()", 224), ("shufflenet_v2()", 224), ("vit(layers: 4, width: 192, heads: 3)", 224),
            ("densenet()", 224)]
# None of these was looked at when the search's limits were chosen.
OTHERS = [("cifar_resnet(depth: 56)", 32), ("small_vgg(depth: 16)", 32), ("shufflenet_v2(width: 2)", 224), ("resnet(depth: 101)", 224),
          ("resnext()", 224), ("vgg(depth: 16, norm: true)", 224), ("mobilenet_v1()", 224), ("mobilenet_v3()", 224), ("efficientnet()", 224),
          ("googlenet()", 224), ("convnext()", 224), ("densenet(depth: 169)", 224), ("vit(layers: 12, width: 384, heads: 6)", 224)]
# of a V100 or T4, RTX 3060, half and a quarter of the first, and one that holds little
MEMORIES = ["2GiB", "4GiB", "8GiB", "12GiB", "16GiB"]
OTHER_MEMORIES = ["3GiB", "6GiB", "11GiB", "24GiB"]
OPTIMIZERS = ["sgd(lr: 0.1, momentum: 0.9)", "adam()"]


def fit(tbemc, network, size, memory, optimizer, more):
    command = [tbemc, "fit", "-e", network, "--input", f"image=batch,3,{size},{size}", "--task",
               f"train(loss: cross_entropy, optimizer: {optimizer})", "--on", "pytorch", "--max", memory, "--json", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answer, complaint = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 5):
        sys.exit(complaint)
    return json.loads(answer), used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tbemc")
    parser.add_argument("pairs", nargs="?", type=int)
    parser.add_argument("--others", action="store_true", help="networks and memories that the search was not fitted to")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--device")
    parser.add_argument("--cudnn")
    parser.add_argument("--no-every", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    more = [text for name in ("device", "cudnn") if getattr(given, name) for text in (f"--{name}", getattr(given, name))]
    networks, memories = (OTHERS, OTHER_MEMORIES) if given.others else (NETWORKS, MEMORIES)
    pairs = [(n, s, m, OPTIMIZERS[i % 2]) for i, (n, s, m) in enumerate((n, s, m) for m in memories for n, s in networks)][:given.pairs]
    # In rounds: what else the machine does lasts for a while, and would make all runs of one pair slow.
    rounds = [[fit(given.tbemc, *pair, more) for pair in pairs] for _ in range(given.runs)]
    rows = []
    for i, (network, size, memory, optimizer) in enumerate(pairs):
        found, took = rounds[0][i][0], min(each[i][1] for each in rounds)
        row = {"network": network, "size": size, "memory": memory, "optimizer": optimizer, "largest": found["largest"],
               "none_above": found["none_above"], "tried": found["tried"], "processor_seconds": round(took, 4)}
        if not given.no_every:
            every, whole = fit(given.tbemc, network, size, memory, optimizer, [*more, "--every"])
            row |= {"every": every["largest"], "every_processor_seconds": round(whole, 3)}
        rows.append(row)
        if not given.json:
            same = row.get("every", row["largest"]) == row["largest"]
            print(f"{network:38} {memory:>6} {optimizer[:4]} batch {row['largest']} of {row['tried']} tried, none above {row['none_above']}, {took:.3f} s"
                  + ("" if same else f"; every batch tried: {row['every']}"), flush=True)
    agree = sum(row.get("every", row["largest"]) == row["largest"] for row in rows)
    seconds = sorted(row["processor_seconds"] for row in rows)
    summary = {"pairs": len(rows), "agree": None if given.no_every else agree, "median": seconds[len(seconds) // 2], "worst": seconds[-1],
               "under_100_ms": sum(second < 0.1 for second in seconds)}
    if given.json:
        print(json.dumps({"device": given.device, **summary, "rows": rows}, indent=1))
    else:
        print(("" if given.no_every else f"{agree} of {len(rows)} agree with trying every batch; ") + f"processor time: median {summary['median']:.3f} s, worst {seconds[-1]:.3f} s,"
              f" {summary['under_100_ms']} under 0.1 s")
    sys.exit(agree != len(rows))


if __name__ == "__main__":
    main()
