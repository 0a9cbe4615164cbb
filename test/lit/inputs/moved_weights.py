"""Says which weights two checkpoints of a training differ in: moved_weights.py BEFORE AFTER."""
import sys

from safetensors_file import read

before, after = read(sys.argv[1]), read(sys.argv[2])
names = [name for name in sorted(before) if name.startswith("weight/")]
assert names and all(name in after for name in names)
print("moved: " + ", ".join(name.removeprefix("weight/") for name in names if before[name] != after[name]))
