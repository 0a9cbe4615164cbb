"""Writes a .safetensors file, by the format's description: its own package need not be there."""
import json
import struct

import numpy as np

CODES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}


def write(path, arrays):
    header, at = {}, 0
    for name, value in arrays.items():
        header[name] = {"dtype": CODES[str(value.dtype)], "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in arrays.values():
            file.write(np.ascontiguousarray(value).tobytes())
