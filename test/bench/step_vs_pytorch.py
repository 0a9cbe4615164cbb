#!/usr/bin/env python3
"""Train steps against eager PyTorch (f32, and mixed bf16 against its autocast): processes in turn, medians, paired ratios, and how far resident memory grows.

Each side is a fresh process that warms up and then times steps one by one; the figure of a process is its median. PyTorch is tuned
unless --plain: `fused=True` optimiser, glibc told to keep freed memory and to use huge pages, and of images the better of NCHW
and channels last in every round. The ratio of a round is ours over PyTorch's; reported is the median of the rounds, with the
smallest and largest, and the same of the 5 % quantiles, which a busy machine disturbs less. Growth is the peak of resident memory over what the process had with its library loaded and no tensor.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TUNED = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296:glibc.malloc.hugetlb=1"
SGD = "train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))"
ADAMW = "train(loss: cross_entropy, optimizer: adamw(lr: 0.001))"

# name: (peer's network, its arguments, our network, our input, our task)
NETWORKS = {
    "resnet18-32": ("resnet18", {"batch": 16, "size": 32}, "resnet(depth: 18)", "image: [16, 3, 32, 32]", SGD),
    "resnet18-224": ("resnet18", {"batch": 16, "size": 224}, "resnet(depth: 18)", "image: [16, 3, 224, 224]", SGD),
    "resnet18-224-bf16": ("resnet18", {"batch": 16, "size": 224, "autocast": True}, "resnet(depth: 18)", "image: [16, 3, 224, 224]", SGD),
    "mobilenet_v2-96": ("mobilenet_v2", {"batch": 16, "size": 96}, "mobilenet_v2(dropout: 0)", "image: [16, 3, 96, 96]", SGD),
    "vgg16_bn-32": ("vgg16_bn", {"batch": 32, "size": 32}, "small_vgg(depth: 16, width: 64)", "image: [32, 3, 32, 32]", SGD),
    **{f"gpt2-{vocabulary}": ("gpt2", {"batch": 4, "tokens": 128, "vocabulary": vocabulary},
                              f"gpt2(vocab: {vocabulary}, context: 128, layers: 4, width: 256, heads: 4, dropout: 0)",
                              "tokens: [4, 128]", ADAMW) for vocabulary in (8192, 256)},
}

PROGRAM = """import {module}: {name}
design bench of {network} {{
  input {input}
  task  {task}{clauses}
}}
measure bench {{
  on     cpu
  metric memory, latency
  repeat 1
}}
"""


def last_json(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(arguments, program):
    rows = last_json([arguments.tbemc, "measure", program, "--fresh", "--tune", "on", "--json", "--quiet", "--threads", str(arguments.threads)])
    row = next(row for row in rows if row["kind"] == "measure")
    if row["status"] != "ok":
        sys.exit(f"{program}: {row['status']}: {row['reason']}")
    return row


def persistent_bytes(arguments, program):
    """Weights, optimiser state, buffers and inputs: they are there before the first step, so in the baseline."""
    rows = last_json([arguments.tbemc, "estimate", program, "--tune", "on", "--json", "--threads", str(arguments.threads)])
    kinds = rows[0]["memory"]["kinds"]
    return sum(kinds[kind] for kind in ["weights", "optimizer", "buffers", "input", "constants"])


def peer(arguments, network, options, layout):
    command = [arguments.python, str(ROOT / "test/bench/peer.py"), network, "--threads", str(arguments.threads), "--steps",
               str(arguments.steps), "--layout", layout, *(["--plain"] if arguments.plain else [])]
    for name, value in options.items():
        command += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    environment = dict(os.environ) if arguments.plain else dict(os.environ, GLIBC_TUNABLES=TUNED)
    return last_json(command, env=environment)[0]


def processor():
    with open("/proc/cpuinfo") as lines:
        found = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return f"{found.get('model name', 'unknown')}, family {found.get('cpu family')} model {found.get('model')}"


def compare(arguments, name, folder):
    network, options, expression, data, task = NETWORKS[name]
    program = pathlib.Path(folder) / f"{name}.tbem"
    program.write_text(PROGRAM.format(module="std.text" if network.startswith("gpt") else "std.vision", name=expression.split("(")[0],
                                      network=expression, input=data, task=task,
                                      clauses="\n  mixed bf16" if options.get("autocast") else ""))
    kept = persistent_bytes(arguments, str(program))
    layouts = ["nchw"] if network.startswith("gpt") else ["nchw", "nhwc"]
    rounds = []
    for _ in range(arguments.rounds):
        row = ours(arguments, str(program))
        peers = {layout: peer(arguments, network, options, layout) for layout in layouts}
        best = min(peers.values(), key=lambda one: one["median"])
        low = row["latency"]["p05"] / min(one["p05"] for one in peers.values())
        grown = row["memory_peak"] - row["memory_baseline"] + kept
        least = min(one["peak"] - one["bare"] for one in peers.values())
        rounds.append({"ours": row["latency"]["median"], "peers": {k: v["median"] for k, v in peers.items()},
                       "ratio": row["latency"]["median"] / best["median"], "ratio_p05": low, "growth": grown, "peer_growth": least,
                       "growth_ratio": grown / least})
        print(f"{name}: {rounds[-1]['ours'] * 1e3:8.2f} ms  "
              + "  ".join(f"{k} {v['median'] * 1e3:8.2f} ms" for k, v in peers.items())
              + f"  ratio {rounds[-1]['ratio']:.3f} (of 5 % quantiles {low:.3f})  growth {grown / 2**20:.0f} MiB of {least / 2**20:.0f}", file=sys.stderr)
    ratios = [one["ratio"] for one in rounds]
    return {"network": name, **options, "threads": arguments.threads, "torch": best["version"], "tuned": not arguments.plain,
            "ours": statistics.median(one["ours"] for one in rounds),
            "pytorch": {layout: statistics.median(one["peers"][layout] for one in rounds) for layout in layouts},
            "ratio": statistics.median(ratios), "smallest": min(ratios), "largest": max(ratios),
            "ratio_p05": statistics.median(one["ratio_p05"] for one in rounds),
            "growth": statistics.median(one["growth"] for one in rounds),
            "pytorch_growth": statistics.median(one["peer_growth"] for one in rounds),
            "growth_ratio": statistics.median(one["growth_ratio"] for one in rounds),
            "arena": row["arena_planned"], "live": row["live"], "arena_measured": row["arena_peak"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help=f"of {', '.join(NETWORKS)}; all without one")
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--python", default="python3")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--plain", action="store_true", help="PyTorch as it comes, not tuned")
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"no network is called {name} ({', '.join(NETWORKS)} are)")
    version = subprocess.run([arguments.tbemc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.networks:
            figures = compare(arguments, name, folder)
            print(json.dumps({"date": datetime.date.today().isoformat(), "processor": processor(), "tbemc": version, **figures}), flush=True)


if __name__ == "__main__":
    main()
