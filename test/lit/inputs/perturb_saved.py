#!/usr/bin/env python3
"""Holds the file of `tbemc perturb --save` against `--points --json`: perturb_saved.py SAVED JSON. The points of `uniform` lie the
radius above their examples, so the examples are known, and how far each method moved each of them is what its point says."""
import array
import json
import math
import struct
import sys


def read(path):
    """Arrays of a .safetensors file by name: shape, numbers."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    arrays = {}
    for name, about in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        first, last = about["data_offsets"]
        numbers = array.array({"F32": "f", "I64": "q"}[about["dtype"]], data[8 + length + first:8 + length + last])
        arrays[name] = about["shape"], numbers
    return arrays


def rows(shape, numbers):
    size = math.prod(shape[1:])
    return [numbers[i * size:(i + 1) * size] for i in range(shape[0])]


def main():
    saved = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        told = [json.loads(line) for line in file]
    examples, points = {}, 0
    for about in (row for row in told if row["kind"] == "perturbation"):
        name, methods = about["name"], about["methods"]
        names = [f"{name}/{number}.{method.split('(')[0]}" for number, method in enumerate(methods, 1)]
        if sorted([*names, f"{name}/example"]) != sorted(one for one in saved if one.startswith(name + "/")):
            sys.exit(f"{name}: other arrays than its methods")
        if list(saved[f"{name}/example"][1]) != list(range(about["examples"])):
            sys.exit(f"{name}: other examples")
        if "uniform" in methods:
            moved = rows(*saved[names[methods.index("uniform")]])
            examples = {i: [number - about["radius"] for number in row] for i, row in enumerate(moved)}
        for method, array_name in zip(methods, names):
            found = [row for row in told if row["kind"] == "point" and (row["name"], row["method"]) == (name, method)]
            for point, numbers in zip(found, rows(*saved[array_name]), strict=True):
                linf = max(abs(a - b) for a, b in zip(numbers, examples[point["example"]]))
                if abs(linf - point["linf"]) > 1e-5:
                    sys.exit(f"{array_name}: example {point['example']} moved by {linf}, and its point says {point['linf']}")
                points += 1
    print(f"{points} points moved as far as they say")


if __name__ == "__main__":
    main()
