#!/usr/bin/env python3
"""How long a training step of ResNet-50 takes to plan and to compile for cards that are not here: wall time, the median of rounds.

  plan   `tbemc estimate --on cuda --device D`, each a process of its own, which opens cuDNN and asks it about every convolution
  code   `tbemc emit --as asm --on cuda` on the card of the tests, with their stand-ins for libraries: the program lowered, and the
         kernels of the step as PTX
  ptxas  the assembler of the CUDA toolkit on these kernels, for compute capability 9.0

`cold` is the sum of the three for an H200, in which the program is read and lowered twice. Needs the CUDA toolkit (ptxas, cuDNN), a
build of the tests and no card. Prints JSON.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = ("design d of resnet(depth: 50) { input image: [32, 3, 224, 224]; "
           "task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9)) }")


def timed(command, **more):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return time.monotonic() - begin, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbemc", default="build/release/bin/tbemc")
    parser.add_argument("--tests", default="build/ci", help="the build folder that has the card of the tests")
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--devices", nargs="+", default=["h200", "a100", "t4"])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    card = os.environ | {"LD_LIBRARY_PATH": f"{arguments.tests}/card", "CUDA_HOME": f"{arguments.tests}/standin"}
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "step.ptx")
        for _ in range(arguments.rounds):
            for device in arguments.devices:
                taken, _ = timed([arguments.tbemc, "estimate", "-e", PROGRAM, "--on", "cuda", "--device", device])
                seconds.setdefault(f"plan {device}", []).append(taken)
            taken, text = timed([arguments.tbemc, "emit", "-e", PROGRAM, "--as", "asm", "--on", "cuda"], env=card)
            seconds.setdefault("code", []).append(taken)
            with open(ptx, "w", encoding="utf-8") as file:
                file.write(text)
            taken, _ = timed([arguments.ptxas, "-arch=sm_90", "-o", os.path.join(folder, "step.cubin"), ptx])
            seconds.setdefault("ptxas", []).append(taken)
    result = {"kernels": len(re.findall(r"\.entry", text)), "rounds": arguments.rounds}
    for name, taken in seconds.items():
        result[name] = {"median": round(statistics.median(taken), 3), "least": round(min(taken), 3), "most": round(max(taken), 3)}
    result["plans"] = round(sum(result[f"plan {device}"]["median"] for device in arguments.devices), 3)
    result["cold"] = round(sum(result[part]["median"] for part in ("plan h200", "code", "ptxas")), 3)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
