"""Fails unless the .safetensors files have the same arrays, bit for bit: same_weights.py A B. What their metadata say of time may differ."""
import json
import sys


def arrays(path):
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")
    body = data[8 + length :]
    return {name: (each["dtype"], each["shape"], body[slice(*each["data_offsets"])]) for name, each in header.items()}


first, second = arrays(sys.argv[1]), arrays(sys.argv[2])
assert first, "no arrays"
different = [name for name in sorted(set(first) | set(second)) if first.get(name) != second.get(name)]
if different:
    sys.exit(f"these differ: {', '.join(different)}")
print(f"{len(first)} arrays, all equal")
