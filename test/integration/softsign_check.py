#!/usr/bin/env python3
"""Holds the output of a step of softsign.tbem against the formula: softsign_check.py STEP.npz. Needs no NumPy."""
import array
import ast
import sys
import zipfile


def numbers(archive, name):
    """The elements of a version 1 .npy file of f32, row by row."""
    data = archive.read(name)
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    assert data[:8] == b"\x93NUMPY\x01\x00" and header["descr"] == "<f4" and not header["fortran_order"], header
    return array.array("f", data[10 + length:])


def main():
    with zipfile.ZipFile(sys.argv[1]) as archive:
        x, y = numbers(archive, "input/x.npy"), numbers(archive, "output.npy")
    assert len(x) == len(y) == 6400 and min(x) < -1 and max(x) > 1, (len(x), len(y), min(x), max(x))
    worst = max(abs(b - a / (1 + abs(a))) for a, b in zip(x, y))
    assert worst < 1e-7, worst
    print(f"{len(y)} numbers, farthest from x / (1 + |x|): {worst:.1e}")


if __name__ == "__main__":
    main()
