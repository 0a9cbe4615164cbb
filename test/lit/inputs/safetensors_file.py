"""Reads and writes .safetensors files by the format's description: its own package need not be there."""
import json
import struct

CODES = {"F32": "f", "F64": "d"}  # of Python's struct


def read(path):
    """The arrays of a file by name: (element type, shape, bytes)."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    body = data[8 + length :]
    return {name: (each["dtype"], each["shape"], body[slice(*each["data_offsets"])]) for name, each in header.items()}


def write(path, arrays, cut=0):
    """Arrays by name, each (element type, shape, numbers or their bytes); the last `cut` bytes are left out."""
    header, data = {}, b""
    for name, (dtype, shape, values) in arrays.items():
        body = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(body)]}
        data += body
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data[: len(data) - cut])
