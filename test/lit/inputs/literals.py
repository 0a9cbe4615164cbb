#!/usr/bin/env python3
"""Steps of a program whose numbers leave fractions of 64 bits, against NumPy: output, loss and updated weights.

usage: literals.py TBEMC PROGRAM FOLDER
"""
import subprocess
import sys

import numpy as np

tbemc, program, folder = sys.argv[1:]


def check(what, found, wanted, tolerance):
    error = np.max(np.abs(found.astype(np.float64) - wanted) / (np.abs(wanted) + 1e-3))
    print(f"{'ok' if error < tolerance else 'BAD'}: {what}: {error:.3g}")


def forward(arrays):
    x = arrays["input/x"].astype(np.float64)
    scaled = x * arrays["weight/scaled.gain"].astype(np.float64) * 1e25
    squashed = scaled / (np.abs(scaled) + 1e-12) + scaled
    centred = squashed - squashed.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-20)
    normal = normal * arrays["weight/layer_norm.weight"] + arrays["weight/layer_norm.bias"]
    y = normal @ arrays["weight/dense.weight"].astype(np.float64).T + arrays["weight/dense.bias"]
    masked = np.where(x > 0, x, -1e30) * 1e-30 + 2.5e-28
    return y + masked * np.sqrt(6.0)


for design, eps in (("plain", 1e-24), ("scheduled", 1e-22)):
    for backend, dtype, tolerance in (("ref", "f64", 1e-12), ("cpu", "f32", 1e-4)):
        path = f"{folder}/{design}_{backend}.npz"
        subprocess.run([tbemc, "step", program, "--design", design, "--on", backend, "--dtype", dtype, "--seed", "3",
                        "--save", path], check=True, stdout=subprocess.DEVNULL)
        with np.load(path) as data:
            arrays = {name: data[name] for name in data.files}
        output, target = arrays["output"].astype(np.float64), arrays["target"].astype(np.float64)
        check(f"{design} on {backend}, output", output, forward(arrays), tolerance)
        check(f"{design} on {backend}, loss", arrays["loss"],
              np.mean((output - target) ** 2 / (target * target + eps)), tolerance)
        # The square of the gain's gradient leaves f32, which Adam keeps.
        for name in ("dense.weight",) if design == "plain" and dtype == "f32" else ("dense.weight", "scaled.gain"):
            w, g = (arrays[f"{group}/{name}"].astype(np.float64) for group in ("weight", "gradient"))
            # Adam's first step: the means over their corrections are g and |g|.
            step = 1e28 * g / (np.abs(g) + 1e30) if design == "plain" else 2e26 * 1e-28 * (g + 1e-25 * w)
            check(f"{design} on {backend}, {name}", arrays[f"after/{name}"], w - step, tolerance)
