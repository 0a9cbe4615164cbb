"""Compares what whole_elements.tbem computes with NumPy: FILE BY UNIT."""
import sys
from fractions import Fraction

import numpy as np

numbers = np.load(sys.argv[1])
by, unit = float(Fraction(sys.argv[2])), float(Fraction(sys.argv[3]))
x = np.arange(9)
whole = np.where(x > 2.5, -by * x**2 + x // 3, np.maximum(np.abs(x - 3), x // 2) + np.floor(unit * x))
wanted = numbers["input/r"] + (whole * 2 - x**2 + np.trunc((x - 4) * 0.5)).astype(np.float32)
found = numbers["output"]
np.testing.assert_allclose(found, wanted, rtol=1e-6)
print(len(found), "elements as NumPy has them")
