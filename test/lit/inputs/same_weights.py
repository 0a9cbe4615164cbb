"""Fails unless the .safetensors files have the same arrays, bit for bit: same_weights.py A B. What their metadata say of time may differ."""
import sys

from safetensors_file import read

first, second = read(sys.argv[1]), read(sys.argv[2])
assert first, "no arrays"
different = [name for name in sorted(set(first) | set(second)) if first.get(name) != second.get(name)]
if different:
    sys.exit(f"these differ: {', '.join(different)}")
print(f"{len(first)} arrays, all equal")
