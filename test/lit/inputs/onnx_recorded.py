"""Infers with a program on recorded inputs: the output is what ONNX Runtime made of them. onnx_recorded.py TBEMC PROGRAM SAVED RECORD

SAVED is a step of the program with the file's weights, RECORD has the inputs and the output, in f32 (onnx_models.py wrote it)."""
import subprocess
import sys

import numpy as np

tbemc, program, saved, record = sys.argv[1:]
arrays, known = dict(np.load(saved)), dict(np.load(record))
given = {name: array for name, array in arrays.items() if name.startswith(("weight/", "buffer/"))}
given |= {name: array for name, array in known.items() if name.startswith("input/")}
np.savez("given.npz", **given)
subprocess.run([tbemc, "step", program, "--on", "ref", "--load", "given.npz", "--save", "given_out.npz", "--quiet"], check=True)
ours, theirs = np.load("given_out.npz")["output"], known["expected"]
far = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
assert ours.shape == theirs.shape and far < 1e-5, far
print("as ONNX Runtime")
