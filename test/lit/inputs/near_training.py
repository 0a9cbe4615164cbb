"""Fails unless two trainings, FOLDER/t.safetensors and FOLDER.json each, report the same accuracies, and their arrays and losses differ by
rounding in f64 only: near_training.py A B."""
import json
import sys

import numpy as np

from safetensors_file import read


def numbers(path):
    """Accuracies and losses of the epochs, in order."""
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    return [value for row in rows if row["kind"] == "train" for key, value in sorted(row.items()) if key in ("loss", "accuracy")]


def arrays(path):
    return {name: np.frombuffer(data, dtype=np.float64) for name, (kind, _, data) in read(path).items() if kind == "F64"}


first, second = sys.argv[1:]
a, b = numbers(first + ".json"), numbers(second + ".json")
assert a and len(a) == len(b), "no epochs"
assert np.allclose(a, b, rtol=1e-9, atol=0), (a, b)
a, b = arrays(first + "/t.safetensors"), arrays(second + "/t.safetensors")
assert a and a.keys() == b.keys(), "no arrays in f64"
for name in a:
    assert np.linalg.norm(a[name] - b[name]) <= 1e-9 * max(1, np.linalg.norm(b[name])), name
print("accuracies are equal, losses and arrays near")
