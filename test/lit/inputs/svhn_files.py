#!/usr/bin/env python3
"""Writes a folder as SVHN's: svhn_files.py FOLDER TRAIN TEST. So many pictures, each as bright as its digit, in .mat files of level 5
("MAT-File Format", MathWorks) whose arrays are compressed, as those of the published files.
"""
import pathlib
import struct
import sys
import zlib

INT8, UINT8, INT32, UINT32, DOUBLE, MATRIX, COMPRESSED = 1, 2, 5, 6, 9, 14, 15
OF_DOUBLES, OF_BYTES = 6, 9


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(name, kind, of, dims, data):
    parts = element(UINT32, struct.pack("<II", of, 0)) + element(INT32, struct.pack(f"<{len(dims)}i", *dims))
    packed = zlib.compress(element(MATRIX, parts + element(INT8, name.encode()) + element(kind, data)))
    return struct.pack("<II", COMPRESSED, len(packed)) + packed


def split(count):
    labels = [1 + 7 * number % 10 for number in range(count)]  # 10 is the digit 0
    pictures = b"".join(bytes([20 * (label % 10)]) * (32 * 32 * 3) for label in labels)
    return (array("X", UINT8, OF_BYTES, [32, 32, 3, count], pictures)
            + array("y", DOUBLE, OF_DOUBLES, [count, 1], struct.pack(f"<{count}d", *labels)))


def main():
    folder, train, test = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("test", test)):
        (folder / f"{name}_32x32.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + split(count))


if __name__ == "__main__":
    main()
