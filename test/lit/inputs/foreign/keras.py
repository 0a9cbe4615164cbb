"""Holds rows of keras.tbem that were measured in Keras against what is known of them otherwise.

keras.py ROWS PYTHON
"""
import json
import re
import subprocess
import sys

PACKAGES = {"tensorflow": ["tensorflow"], "jax": ["jax", "jaxlib"]}
VERSIONS = """
import keras, jax, jaxlib, tensorflow
for module in (keras, jax, jaxlib, tensorflow):
    print(module.__name__, module.__version__.partition("+")[0])
"""

with open(sys.argv[1]) as lines:
    rows = [row for row in map(json.loads, lines) if row["kind"] == "measure"]
wrong = [row for row in rows if row["status"] != "ok"]
if wrong:
    sys.exit(f"not measured: {wrong[0]}")
there = [row for row in rows if row["backend"] != "cpu"]
print(f"{len(rows)} rows, {len(there)} of them in Keras")

said = subprocess.run([sys.argv[2], "-c", VERSIONS], capture_output=True, text=True, check=True).stdout
known = dict(line.split() for line in said.splitlines() if re.fullmatch(r"\w+ [\d.]+", line))
grown = {}
for row in there:
    backend = re.fullmatch(r'keras\(backend: "(\w+)"\)', row["backend"]).group(1)
    expected = ", ".join(f"{name} {known[name]}" for name in ("keras", *PACKAGES[backend]))
    assert row["versions"].startswith(f"{expected}, Python 3."), (row["versions"], expected)
    assert row["machine"].endswith(", 3 threads"), row["machine"]
    assert row["arena_peak"] is None and row["loss_not_finite"] is None
    # Keras and what it computes with take more than 100 MB, and one of these steps less than 200 MB.
    assert 100e6 < row["memory_baseline"] < row["memory_peak"] < row["memory_baseline"] + 200e6, row
    # The median of 20 steps or more lies strictly between quantiles of them.
    assert 0 < row["latency"]["p05"] < row["latency"]["median"] < row["latency"]["p95"], row["latency"]
    grown[backend, row["levels"]["batch"]] = row["memory_peak"] - row["memory_baseline"]
for backend, batch in grown:
    # What the convolution has made is there at one time, in the first step after the baseline as in all others.
    assert grown[backend, batch] >= 0.9 * batch * 16 * 16 * 16 * 4, (backend, batch, grown)
    # What more images take after the convolution alone, and is there at one time: 16 channels of 16 x 16 numbers of 4 bytes.
    least = (batch - 16) * 16 * 16 * 16 * 4
    assert grown[backend, batch] - grown[backend, 16] >= 0.9 * least, (backend, batch, grown)
print("peaks grow with the batch, baselines hold Keras, 20 steps or more of each")
