"""Steps that `tbemc step --save` leaves, and what scripts say of them."""
import os
import subprocess
import sys
import zipfile

import numpy as np

bad = 0


def check(what, good, text):
    global bad
    bad += not good
    print(f"{'ok' if good else 'BAD'}: {what}: {text}")


def end():
    sys.exit(1 if bad else 0)


def step(tbemc, program, design, on, path, **variables):
    """The arrays of a design's first step, by name."""
    command = [tbemc, "step", program, "--design", design, "--on", on, "--seed", "3", "--save", path, "--json", "--threads", "2"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={**os.environ, **variables})
    with zipfile.ZipFile(path) as archive:
        names = [name[: -len(".npy")] for name in archive.namelist()]
    data = np.load(path)
    return {name: data[name] for name in names}


def flat(arrays, group):
    return np.concatenate([value.ravel().astype(np.float64) for name, value in arrays.items() if name.startswith(group)])
