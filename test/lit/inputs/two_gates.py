"""The results of value_of_two_gates.tbem by NumPy: two_gates.py FILE skips|one|exits."""
import sys

import numpy as np

file, design = np.load(sys.argv[1]), sys.argv[2]
high, low = (9, 9) if design == "one" else (0.5, -0.5)
x = file["input/x"]
v = x * 3
left = np.where(x.max(1, keepdims=True) > high, v, v * 2)
want = np.where(x.min(1, keepdims=True) > low, left, v + 1 if design == "exits" else v * 5)
print("equal" if np.array_equal(want, file["output"]) else f"{want}\n{file['output']}")
