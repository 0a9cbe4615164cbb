#!/usr/bin/env python3
"""How long a training step of ResNet-50 takes to plan and to compile for cards that are not here: wall time of whole processes, the
median of rounds.

  plan D  `tbemc estimate --on cuda --device D` with nothing kept: it opens cuDNN and asks it about every convolution
  kept D  the same again, when the answers are kept
  code    `tbemc emit --as asm --on cuda` on the card of the tests, with their stand-ins for cuDNN and cuBLASLt and the toolkit's
          nvJitLink: the program read and lowered, the kernels of the step as PTX, and these as the card's own code

`cold` is the sum of `plan` of the first device and `code`, in which the program is read and lowered twice. Needs the CUDA toolkit
(cuDNN, nvJitLink), a build of the tests and no card. What compiling takes by itself, and what it takes to load what was compiled,
`bench_compile` says. Prints JSON.
"""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = ("design d of resnet(depth: 50) { input image: [32, 3, 224, 224]; "
           "task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9)) }")


def timed(command, environment):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return time.monotonic() - begin, done.stdout


def toolkit_of(folder, tests, toolkit):
    """A toolkit whose cuDNN and cuBLASLt are the tests', and whose nvJitLink is the real one."""
    libraries = os.path.join(folder, "toolkit", "lib")
    os.makedirs(libraries)
    linkers = [path for version in ("13", "12") for below in ("lib64", "lib")
               for path in glob.glob(os.path.join(os.path.abspath(toolkit), below, f"libnvJitLink.so.{version}"))]
    if not linkers:
        sys.exit(f"there is no libnvJitLink.so.13 or .12 in {toolkit}")
    for path in glob.glob(os.path.join(os.path.abspath(tests), "standin", "lib", "libcu*.so.*")) + linkers[:1]:
        os.symlink(path, os.path.join(libraries, os.path.basename(path)))
    return os.path.dirname(libraries)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbemc", default="build/release/bin/tbemc")
    parser.add_argument("--tests", default="build/ci", help="the build folder that has the card of the tests")
    parser.add_argument("--toolkit", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("--devices", nargs="+", default=["h200", "a100", "t4"])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    seconds = {}
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            caches = {"XDG_CACHE_HOME": os.path.join(folder, "cache")}
            for device in arguments.devices:
                plan = [arguments.tbemc, "estimate", "-e", PROGRAM, "--on", "cuda", "--device", device]
                for name in ("plan", "kept"):
                    taken, _ = timed(plan, caches | {"CUDA_HOME": arguments.toolkit})
                    seconds.setdefault(f"{name} {device}", []).append(taken)
            card = {"LD_LIBRARY_PATH": os.path.join(arguments.tests, "card"),
                    "CUDA_HOME": toolkit_of(folder, arguments.tests, arguments.toolkit)}
            taken, text = timed([arguments.tbemc, "emit", "-e", PROGRAM, "--as", "asm", "--on", "cuda"], caches | card)
            seconds.setdefault("code", []).append(taken)
    result = {"kernels": len(re.findall(r"\.entry", text)), "rounds": arguments.rounds}
    for name, taken in seconds.items():
        result[name] = {"median": round(statistics.median(taken), 3), "least": round(min(taken), 3), "most": round(max(taken), 3)}
    for name in ("plan", "kept"):
        result[f"{name} all"] = round(sum(result[f"{name} {device}"]["median"] for device in arguments.devices), 3)
    result["cold"] = round(result[f"plan {arguments.devices[0]}"]["median"] + result["code"]["median"], 3)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
