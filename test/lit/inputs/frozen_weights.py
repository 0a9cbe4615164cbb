"""Tells which arrays of two .safetensors files are the same, bit for bit, and which are not: frozen_weights.py A B."""
import sys

from safetensors_file import read

first, second = read(sys.argv[1]), read(sys.argv[2])
assert first and set(first) == set(second), "other arrays"
print("same:", *sorted(name for name in first if first[name] == second[name]))
print("different:", *sorted(name for name in first if first[name] != second[name]))
