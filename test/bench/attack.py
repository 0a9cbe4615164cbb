#!/usr/bin/env python3
"""A search of slow inputs, `gradient` in 30 steps on std.adaptive's sdn_resnet56, beside the same in eager PyTorch.

usage: attack.py [--tbemc PATH] [--rounds 5] [--batches 1,32,100] [--threads 1,2] [--json FILE]

Runs under a Python with a current torch; attack_peer.py is the process of PyTorch that it times. The network is trained
for a few steps on pictures made here, and both sides take these weights. First the numbers: in f64 the points of all 30
steps are the same to 2e-6; in f32 one step moves the same numbers the same way, but for a share below 1e-3; FLOPs and
decisions of points are those that the walk of test/pytorch counts. Ends with 1 where they are not. Then the seconds
that an example takes, the sides in turn in every round; the ratio of a round is PyTorch's over ours. PyTorch comes in
three ways: `plain`, as it comes; `tuned`, channels last and with glibc told to keep freed memory; `folded`, the same
with batch normalisations in the convolutions' weights.
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

import numpy as np
import torch

import attack_peer
from attack_peer import attack, objective
from step_vs_pytorch import TUNED, last_json, processor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/pytorch"))
from perturbed_models import Walk, read_arrays, sdn_resnet56  # noqa: E402

RADIUS, STEPS = 0.03, 30
PROGRAM = """import std.adaptive: sdn_resnet56

dataset pictures = npy(inputs: ["train.npy"], target: "train_labels.npy", classes: 10, test_inputs: ["test.npy"],
                       test_target: "test_labels.npy")

train t = sdn_resnet56() on pictures.train {{ {training}; seed 1 }}

perturb p of t on pictures.test(count: {count}) {{
  norm linf({radius}); by gradient(steps: {steps}, look: 0); batch {batch}; seed 1
}}
"""
TRAINS = "steps 60; batch 32; optimizer adam(lr: 0.002)"
KEEPS = 'weights "start.safetensors"; steps 1; batch 2; optimizer sgd(lr: 0.000001); dtype f64'
WAYS = {  # how PyTorch is run: arguments of the peer, and whether glibc is tuned
    "plain": ([], False),
    "tuned": (["--layout", "nhwc"], True),
    "folded": (["--layout", "nhwc", "--folded"], True),
}


def make_pictures(folder, test):
    """Coloured squares with noise, of ten kinds, all numbers in [0, 1]."""
    random = np.random.default_rng(1)
    squares = random.uniform(0.2, 0.8, (10, 3, 4, 4)).repeat(8, 2).repeat(8, 3)
    for split, count in (("train", 256), ("test", test)):
        labels = random.integers(0, 10, count)
        noise = 0.2 * random.standard_normal((count, 3, 32, 32))
        np.save(folder / f"{split}.npy", np.clip(squares[labels] + noise, 0, 1).astype(np.float32))
        np.save(folder / f"{split}_labels.npy", labels)


class Ours:
    """`tbemc perturb` of a program in a folder; the training is run by the first call and found by all others."""

    def __init__(self, tbemc, folder, training, on=()):
        self.tbemc, self.folder, self.training, self.on = tbemc, folder, training, on

    def search(self, count, batch, steps=STEPS, threads=1):
        program, saved = self.folder / "a.tbem", self.folder / "points.safetensors"
        program.write_text(PROGRAM.format(training=self.training, count=count, batch=batch, steps=steps, radius=RADIUS))
        rows = last_json([self.tbemc, "perturb", str(program), *self.on, "--again", "--json", "--points", "--quiet",
                          "--save", str(saved), "--threads", str(threads)])
        told = [row for row in rows if row["kind"] == "point"]
        summary = next(row for row in rows if row["kind"] == "perturbed")
        return read_arrays(saved)["p/1.gradient"], told, summary

    def weights(self):
        return read_arrays(self.folder / "a.out/t.safetensors")

    def examples(self, count):
        return torch.tensor(np.load(self.folder / "test.npy")[:count])


# ---- The numbers -----------------------------------------------------------------------------------------------------


def check(what, good, told):
    print(f"{'ok' if good else 'BAD'}: {what}: {told}", file=sys.stderr)
    if not good:
        sys.exit(f"the two sides compute different things: {what}: {told}")


def theirs(weights, examples, steps, dtype, folded=False):
    shares = attack_peer.shares_of(weights, examples, dtype)
    network = attack_peer.Network(weights, len(shares), folded, torch.contiguous_format)
    return attack(lambda x: objective(network, shares, x), examples, steps, RADIUS, dtype)


def check_walk(what, weights, points, told, dtype):
    """What points cost, and which way they took, by the walk."""
    with torch.no_grad():
        walk = sdn_resnet56(Walk(weights, len(points)), points.to(dtype))
    differ = sum(abs(flops - row["flops"]) > 0.01 for flops, row in zip(walk.flops().tolist(), told))
    differ += sum(taken != list(row["gates"].values()) for taken, row in zip(walk.decisions().T.tolist(), told))
    dearer = sum(row["flops"] > row["flops_before"] for row in told)
    check(f"{what}, costs", differ == 0 and dearer > 0, f"{differ} differ; {dearer} of {len(told)} points cost more")


def check_numbers(arguments, single, folder):
    """Returns what was seen, for the JSON."""
    examples = single.examples(20)
    ours, told, _ = single.search(20, 20, steps=1)
    check_walk("f32", single.weights(), *single.search(20, 20)[:2], torch.float32)
    differ = ((ours - theirs(single.weights(), examples, 1, torch.float32)).abs() > 2e-6).double().mean().item()
    moved = (ours - examples).abs().max().item()
    check("f32, one step", differ < 1e-3 and moved > 1e-3, f"a share of {differ:.1e} of the numbers differs")
    double = Ours(arguments.tbemc, folder, KEEPS, ("--on", "ref"))
    ours, told, _ = double.search(arguments.exact, arguments.exact)
    examples, weights = double.examples(arguments.exact), double.weights()
    check_walk("f64", weights, ours, told, torch.float64)
    far = [(ours - theirs(weights, examples, STEPS, torch.float64, folded)).abs().max().item()
           for folded in (False, True)]
    check(f"f64, {STEPS} steps", max(far) < 2e-6, f"{far[0]:.1e} at most, {far[1]:.1e} with folded weights")
    wrong = (ours - theirs(weights, examples, STEPS - 1, torch.float64)).abs().max().item()
    check("f64, seen with a step less", wrong > 1e-3, f"{wrong:.1e}")
    return {"f64_largest_difference": far[0], "f64_examples": arguments.exact,
            "f32_one_step_share_that_differs": differ}


# ---- The times -------------------------------------------------------------------------------------------------------


def peer(folder, options, tuned):
    command = [sys.executable, str(ROOT / "test/bench/attack_peer.py"), str(folder / "a.out/t.safetensors"),
               str(folder / "test.npy"), "--save", str(folder / "peer.npy"), "--steps", str(STEPS),
               "--radius", str(RADIUS), *options]
    environment = dict(os.environ, GLIBC_TUNABLES=TUNED) if tuned else dict(os.environ)
    return last_json(command, env=environment)[0]


def compare(single, batch, threads, rounds):
    count = max(batch * threads, 8)  # a batch for each thread
    done = []
    for _ in range(rounds):
        load = os.getloadavg()[0]
        points, told, summary = single.search(count, batch, threads=threads)
        row = {"load": load, "ours": summary["seconds_of_example"], "flops": summary["flops"]}
        for way, (options, tuned) in WAYS.items():
            sizes = ["--count", str(count), "--batch", str(batch), "--threads", str(threads)]
            row[way] = peer(single.folder, [*options, *sizes], tuned)["seconds_of_example"]
            row[f"ratio_{way}"] = row[way] / row["ours"]
            if way == "plain":
                peers = torch.tensor(np.load(single.folder / "peer.npy"))
                row["differ"] = ((points - peers).abs() > 2e-6).double().mean().item()
        done.append(row)
        print(f"batch {batch}, threads {threads}: ours {row['ours'] * 1e3:.1f} ms an example; "
              + ", ".join(f"{way} {row[way] * 1e3:.1f} ms, {row[f'ratio_{way}']:.2f} times" for way in WAYS)
              + f"; load {load:.1f}; a share of {row['differ']:.1e} of the numbers differs", file=sys.stderr)
    result = {"batch": batch, "examples": count, "threads": threads,
              "ours": statistics.median(row["ours"] for row in done)}
    for way in WAYS:
        ratios = [row[f"ratio_{way}"] for row in done]
        result[way] = {"seconds": statistics.median(row[way] for row in done), "ratio": statistics.median(ratios),
                       "smallest": min(ratios), "largest": max(ratios)}
    with torch.no_grad():
        walk = sdn_resnet56(Walk(single.weights(), count), peers)
    result["flops"] = [done[-1]["flops"], float(np.mean(walk.flops().tolist()))]  # of ours and of theirs
    return {**result, "rounds": done}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", default="1,32,100")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--exact", type=int, default=2, help="examples that are compared in f64")
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    version = subprocess.run([arguments.tbemc, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    told = {"date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count(),
            "tbemc": version.stdout.strip(), "torch": torch.__version__, "network": "sdn_resnet56", "steps": STEPS,
            "radius": RADIUS, "settings": []}
    with tempfile.TemporaryDirectory() as folder:
        single_folder, double_folder = pathlib.Path(folder) / "single", pathlib.Path(folder) / "double"
        for path, test in ((single_folder, 128), (double_folder, arguments.exact)):
            path.mkdir()
            make_pictures(path, test)
        single = Ours(arguments.tbemc, single_folder, TRAINS)
        single.search(1, 1, threads=2)  # trains
        (double_folder / "start.safetensors").write_bytes((single_folder / "a.out/t.safetensors").read_bytes())
        told["numbers"] = check_numbers(arguments, single, double_folder)
        for batch in map(int, arguments.batches.split(",")):
            for threads in map(int, arguments.threads.split(",")):
                told["settings"].append(compare(single, batch, threads, arguments.rounds))
                if arguments.json:
                    arguments.json.write_text(json.dumps(told, indent=1) + "\n")
    for setting in told["settings"]:
        print(json.dumps({key: value for key, value in setting.items() if key != "rounds"}))


if __name__ == "__main__":
    main()
