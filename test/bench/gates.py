#!/usr/bin/env python3
"""What gates cost and save, in pairs that are taken in turn.

usage: gates.py batch [--tbemc PATH] [--samples 32] [--going 16] [--blocks 6] [--pairs 5] [--threads 2]
       gates.py latency --threads 1 [--tbemc PATH] [--blocks 6] [--pairs 5] [--repeat 100]
       gates.py pytorch [--tbemc PATH] [--python PATH] [--network skipnet|sdn_resnet56] [--n 3] [--pictures 10]

batch: a network of residual blocks in a batch of `samples`, of which `going` are computed (by skips before each block, or by an exit before
all of them), against the same blocks without gates in a batch of `going`. The ratio is the first over the second; that of the blocks is the
same of what all blocks but the first add, as what stands before and behind skips is computed for the whole batch.
latency: at batch 1, what k of `blocks` residual blocks take, k from none to all and each once a round in an order of its own, against
fixed + k * block by least squares of relative deviations, for blocks of three sizes. A time is the 5 % quantile of the runs of a
round, the least of all rounds: beside other programs a run of some milliseconds is often interrupted.
pytorch: inference at batch 1, picture by picture, against eager PyTorch with real branches on the same weights and pictures.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/pytorch"))

SKIPS = """network net(image: tensor[b, c, h, w], flag: tensor[b]; blocks: int) -> tensor[b, 10] {
  var x = image
  for i in 0 .. blocks as unit { x = skip residual(x, out: c) when flag > 0 leaving x }
  return x |> global_avg_pool |> dense(10)
}
"""
EXIT = """network net(image: tensor[b, c, h, w], flag: tensor[b]; blocks: int) -> tensor[b, 10] {
  let y = image |> global_avg_pool |> dense(10)
  exit y when flag > 0
  var x = image
  for i in 0 .. blocks as unit { x = residual(x, out: c) }
  return x |> global_avg_pool |> dense(10)
}
"""
EACH = """network net(image: tensor[b, c, h, w], flags: tensor[b, n]) -> tensor[b, 10] {
  var x = image
  for i in 0 .. n as unit {
    let flag = slice(flags, start: [0, i], size: [b, 1]) |> reshape(shape: [b])
    x = skip residual(x, out: c) when flag > 0 leaving x
  }
  return x |> global_avg_pool |> dense(10)
}
"""
PLAIN = """network net(image: tensor[b, c, h, w]; blocks: int) -> tensor[b, 10] {
  var x = image
  for i in 0 .. blocks as unit { x = residual(x, out: c) }
  return x |> global_avg_pool |> dense(10)
}
"""


def step(tbemc, program, arrays, folder, repeat, threads):
    given = pathlib.Path(folder) / "given.npz"
    np.savez(given, **arrays)
    out = subprocess.run([tbemc, "step", str(program), "--load", str(given), "--repeat", str(repeat), "--threads", str(threads),
                          "--json", "--quiet"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(row for row in map(json.loads, out.splitlines()) if row["kind"] == "step")


def batch(arguments):
    random = np.random.default_rng(1)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for channels, size in ((16, 32), (32, 16), (64, 8)):
            pictures = random.standard_normal((arguments.samples, channels, size, size)).astype(np.float32)
            flags = np.ones(arguments.samples, np.float32)
            flags[random.permutation(arguments.samples)[:arguments.going]] = -1
            programs = {}
            for name, text, count in (("skip", SKIPS, arguments.samples), ("exit", EXIT, arguments.samples), ("plain", PLAIN, arguments.going)):
                flag = "" if name == "plain" else f"\n  input flag: [{count}]"
                for blocks in (1, arguments.blocks):
                    program = pathlib.Path(folder) / f"{name}{channels}_{blocks}.tbem"
                    program.write_text(f"{text}design d of net(blocks: {blocks}) {{\n"
                                       f"  input image: [{count}, {channels}, {size}, {size}]{flag}\n}}\n")
                    programs[name, blocks] = program
            times = {key: [] for key in programs}
            for _ in range(arguments.pairs):
                for (name, blocks), program in programs.items():
                    count = arguments.going if name == "plain" else arguments.samples
                    arrays = {"input/image": pictures[:count]}
                    if name != "plain":
                        arrays["input/flag"] = flags
                    row = step(arguments.tbemc, program, arrays, folder, arguments.repeat, arguments.threads)
                    times[name, blocks].append(row["latency"]["median"])
            first, whole = 1, arguments.blocks
            for name in ("skip", "exit"):
                ratios = sorted(a / b for a, b in zip(times[name, whole], times["plain", whole]))
                added = [statistics.median(times[key, whole]) - statistics.median(times[key, first]) for key in (name, "plain")]
                results.append({"gate": name, "channels": channels, "size": size, "samples": arguments.samples,
                                "going": arguments.going, "threads": arguments.threads, "gated": statistics.median(times[name, whole]),
                                "plain": statistics.median(times["plain", whole]), "ratio": statistics.median(ratios),
                                "smallest": ratios[0], "largest": ratios[-1], "ratio_of_blocks": added[0] / added[1]})
                print(json.dumps(results[-1]), flush=True)


def latency(arguments):
    random = np.random.default_rng(1)
    counts = range(arguments.blocks + 1)
    with tempfile.TemporaryDirectory() as folder:
        for channels, size in ((16, 32), (32, 16), (64, 8)):
            program = pathlib.Path(folder) / f"each{channels}.tbem"
            program.write_text(f"{EACH}design d of net {{\n  input image: [1, {channels}, {size}, {size}]\n"
                               f"  input flags: [1, {arguments.blocks}]\n}}\n")
            picture = random.standard_normal((1, channels, size, size)).astype(np.float32)
            times = {count: [] for count in counts}
            for _ in range(arguments.pairs):
                for count in random.permutation(counts):
                    flags = np.ones((1, arguments.blocks), np.float32)
                    flags[0, random.permutation(arguments.blocks)[:count]] = -1  # those that are computed
                    arrays = {"input/image": picture, "input/flags": flags}
                    row = step(arguments.tbemc, program, arrays, folder, arguments.repeat, arguments.threads)
                    taken = sum(gate["taken"] for gate in row["gates"])
                    if taken != arguments.blocks - count:
                        sys.exit(f"{taken} blocks are skipped instead of {arguments.blocks - count}")
                    times[count].append(row["latency"]["p05"])
            least = np.array([min(times[count]) for count in counts])
            block, fixed = np.polyfit(np.array(counts), least, 1, w=1 / least)
            line = fixed + block * np.array(counts)
            print(json.dumps({"channels": channels, "size": size, "blocks": arguments.blocks, "threads": arguments.threads,
                              "fixed": fixed, "block": block, "largest_deviation": max(abs(least / line - 1)),
                              "correlation": np.corrcoef(counts, least)[0, 1], "least": least.tolist()}), flush=True)


PEER = r"""
import json, sys, time
import torch
sys.path.insert(0, sys.argv[1])
from compare_gates import model_of
from compare_step import load
torch.set_num_threads(2)
arrays = load(sys.argv[2])
model = model_of(sys.argv[3], arrays, int(sys.argv[4]))
picture = torch.tensor(arrays["input/image"])
times = []
with torch.inference_mode():
    for i in range(int(sys.argv[5]) + 5):
        start = time.perf_counter()
        output = model.branch(picture)
        times.append(time.perf_counter() - start)
times = sorted(times[5:])
print(json.dumps({"median": times[len(times) // 2], "output": output.reshape(-1).tolist(), "version": torch.__version__}))
"""


def pytorch(arguments):
    from compare_gates import Runner, prepare
    from gated_models import images
    from compare_step import load
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        one = Runner(arguments.tbemc, folder, arguments.network, arguments.n, 1)
        weights, _ = prepare(one, arguments.network, arguments.n)
        for i in range(arguments.pictures):
            row, arrays = one.run(weights, images(1, 10_000_000 + i), "--repeat", str(arguments.repeat))
            out = subprocess.run([arguments.python, "-c", PEER, str(ROOT / "test/pytorch"), str(one.folder / "given.npz"),
                                  arguments.network, str(arguments.n), str(max(10, arguments.repeat // 4))],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            peer = json.loads(out)
            if not np.allclose(arrays["output"].reshape(-1), peer["output"], rtol=1e-3, atol=1e-4):
                sys.exit(f"results differ: {arrays['output']} and {peer['output']}")
            taken = sum(gate["taken"] for gate in row["gates"])
            pairs.append((row["latency"]["median"], peer["median"]))
            print(f"{pairs[-1][0] * 1e3:8.3f} ms  {pairs[-1][1] * 1e3:8.3f} ms  {pairs[-1][1] / pairs[-1][0]:.2f} times  "
                  f"{taken} conditions true, {row['flops_executed'] / 1e6:.1f} MFLOP", file=sys.stderr)
    ratios = sorted(b / a for a, b in pairs)
    print(json.dumps({"network": arguments.network, "n": arguments.n, "torch": peer["version"],
                      "ours": statistics.median(a for a, _ in pairs), "pytorch": statistics.median(b for _, b in pairs),
                      "times": statistics.median(ratios), "smallest": ratios[0], "largest": ratios[-1]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["batch", "latency", "pytorch"])
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--python", default="python3")
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--going", type=int, default=16)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2, help="of batch; on a machine that others use too, 1 is steadier")
    parser.add_argument("--network", choices=["skipnet", "sdn_resnet56"], default="skipnet")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=10)
    arguments = parser.parse_args()
    {"batch": batch, "latency": latency, "pytorch": pytorch}[arguments.what](arguments)


if __name__ == "__main__":
    main()
