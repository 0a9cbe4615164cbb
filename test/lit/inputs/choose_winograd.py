#!/usr/bin/env python3
"""Rewrites the choices of algorithms in a folder: number 1 wherever it is there. Their checksum is XXH3's, 128 bits."""
import ctypes
import pathlib
import sys


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


library = ctypes.CDLL("libxxhash.so.0")
library.XXH3_128bits.restype = Hash
library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

for path in pathlib.Path(sys.argv[1]).glob("*.txt"):
    magic, _, device, *lines = path.read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    rows = [[row[0], "1" if len(row) > 3 else row[1], *row[2:]] for row in rows]
    body = "".join(line + "\n" for line in [device, *("\t".join(row) for row in rows)]).encode()
    found = library.XXH3_128bits(body, len(body))
    path.write_bytes(b"\n".join([magic.encode(), f"{found.high:016x}{found.low:016x}".encode(), body]))
