#!/usr/bin/env python3
"""A train step (resnet18, SGD with momentum, f32) against eager PyTorch: processes in turn, medians, paired ratios.

Each side is a fresh process that warms up and then times steps one by one; the figure of a process is its median. The ratio of
a pair is ours over PyTorch's; what is reported is the median of the pairs, with the smallest and largest.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PEER = r"""
import json, sys, time
import torch, torch.nn.functional as F
sys.path.insert(0, sys.argv[1])
from models import resnet18
batch, size, threads, steps, layout = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]
torch.set_num_threads(threads)
torch.manual_seed(0)
widths = [64, 128, 256, 512]
shapes = [(64, 3, 7, 7), (64,), (64,)]
channels = 64
for stage, width in enumerate(widths):
    for unit in range(2):
        shapes += [(width, channels, 3, 3), (width,), (width,), (width, width, 3, 3), (width,), (width,)]
        if channels != width:
            shapes += [(width, channels, 1, 1), (width,), (width,)]
        channels = width
shapes += [(1000, 512), (1000,)]
weights = [(torch.randn(s) * 0.05 if len(s) > 1 else torch.ones(s)).requires_grad_() for s in shapes]
image, target = torch.randn(batch, 3, size, size), torch.randint(0, 1000, (batch,))
if layout == "nhwc":
    weights = [w.detach().to(memory_format=torch.channels_last).requires_grad_() if w.dim() == 4 else w for w in weights]
    image = image.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(weights, lr=0.01, momentum=0.9)
times = []
for i in range(steps + 5):
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(resnet18(image, iter(weights)), target).backward()
    optimizer.step()
    times.append(time.perf_counter() - start)
times = sorted(times[5:])
print(json.dumps({"median": times[len(times) // 2], "version": torch.__version__}))
"""

PROGRAM = """import std.vision: resnet
design bench of resnet(depth: 18) {{
  input image: [{batch}, 3, {size}, {size}]
  task  train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))
}}
measure bench {{
  on cpu
  metric latency
  repeat 1
}}
"""


def ours(tbemc, program, threads):
    line = subprocess.run([tbemc, "measure", program, "--fresh", "--json", "--threads", str(threads)],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    rows = [json.loads(text) for text in line.splitlines()]
    return next(row for row in rows if row["kind"] == "measure")["latency"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--python", default="python3")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--layout", choices=["nchw", "nhwc"], default="nchw")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "bench.tbem"
        program.write_text(PROGRAM.format(batch=arguments.batch, size=arguments.size))
        pairs, version = [], None
        for _ in range(arguments.pairs):
            a = ours(arguments.tbemc, str(program), arguments.threads)
            out = subprocess.run([arguments.python, "-c", PEER, str(ROOT / "test/pytorch"), str(arguments.batch), str(arguments.size),
                                  str(arguments.threads), str(arguments.steps), arguments.layout],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout
            peer = json.loads(out)
            version = peer["version"]
            pairs.append((a, peer["median"]))
            print(f"{a * 1e3:8.2f} ms  {peer['median'] * 1e3:8.2f} ms  ratio {a / peer['median']:.3f}", file=sys.stderr)
    ratios = sorted(a / b for a, b in pairs)
    print(json.dumps({"network": "resnet18", "batch": arguments.batch, "size": arguments.size, "threads": arguments.threads,
                      "torch": version, "layout": arguments.layout,
                      "ours": statistics.median(a for a, _ in pairs), "pytorch": statistics.median(b for _, b in pairs),
                      "ratio": statistics.median(ratios), "smallest": ratios[0], "largest": ratios[-1]}))


if __name__ == "__main__":
    main()
