#!/usr/bin/env python3
"""Train steps beside processes that spin: ours and eager PyTorch's on two threads, each alone and beside `--busy` neighbours.

Rounds in turn; of each side the median of the rounds' medians, and how many times as long a step takes beside the neighbours as
alone. Ours by `step --profile` (21 steps), PyTorch's by peer.py as it comes from the package (its waiting threads spin as its
OpenMP library has them do). A neighbour is a process that counts without end at normal priority.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from step_vs_pytorch import NETWORKS, PROGRAM, last_json, processor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@contextlib.contextmanager
def neighbours(count):
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def ours(arguments, program, threads):
    rows = last_json([arguments.tbemc, "step", program, "--profile", "--tune", "off", "--json", "--threads", str(threads)])
    return next(row for row in rows if row["kind"] == "profile")["seconds"]


def peer(arguments, network, options, threads):
    command = [arguments.python, str(ROOT / "test/bench/peer.py"), network, "--threads", str(threads), "--steps", str(arguments.steps)]
    for name, value in options.items():
        command += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return last_json(command, env=dict(os.environ))[0]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=["resnet18-32", "gpt2-256"], help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    parser.add_argument("--python", default="python3", help="one with torch and torchvision")
    parser.add_argument("--busy", type=int, default=1, help="neighbours that spin (default 1)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"no network is called {name} ({', '.join(NETWORKS)} are)")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.networks:
            network, options, expression, data, task = NETWORKS[name]
            program = pathlib.Path(folder) / f"{name}.tbem"
            program.write_text(PROGRAM.format(module="std.text" if network.startswith("gpt") else "std.vision",
                                              name=expression.split("(")[0], network=expression, input=data, task=task, clauses=""))
            taken = {"ours": {"alone": [], "busy": []}, "pytorch": {"alone": [], "busy": []}}
            for _ in range(arguments.rounds):
                for load, count in (("alone", 0), ("busy", arguments.busy)):
                    with neighbours(count):
                        taken["ours"][load].append(ours(arguments, str(program), arguments.threads))
                        taken["pytorch"][load].append(peer(arguments, network, options, arguments.threads))
            medians = {side: {load: statistics.median(values) for load, values in of.items()} for side, of in taken.items()}
            print(json.dumps({"date": datetime.date.today().isoformat(), "processor": processor(), "network": name,
                              "threads": arguments.threads, "neighbours": arguments.busy, "rounds": arguments.rounds, **medians,
                              "slower": {side: of["busy"] / of["alone"] for side, of in medians.items()}}), flush=True)


if __name__ == "__main__":
    main()
