"""Whether steps that differ in their optimiser alone saved the same gradients, bit for bit: gradients_alike.py A.safetensors B.safetensors"""
import json
import sys


def gradients(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, numbers = json.loads(file.read(size)), file.read()
    return {name: numbers[slice(*array["data_offsets"])] for name, array in header.items() if name.startswith("gradient/")}


first, second = map(gradients, sys.argv[1:])
assert first.keys() == second.keys()
wrong = [name for name in first if first[name] != second[name]]
print(f"{len(first)} gradients, others: {', '.join(wrong) or 'none'}")
