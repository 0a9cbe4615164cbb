"""Holds the images of a page against points: usage: pictures.py PAGE.html POINTS.safetensors FOUND.jsonl BOX.

The page is that of `tbemc report`, the points and what is said of them those of `tbemc perturb --save --json --points`. PNG files
are read as the specification says (ISO/IEC 15948): 8 bits a sample, grey or in colours, no interlacing.
"""
import base64
import json
import re
import struct
import sys
import zlib

import numpy as np
from safetensors_file import read

MOST = 4


def samples(png):
    """[height, width, channels]"""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        chunk = png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunk)
            assert depth == 8 and colour in (0, 2) and rest == [0, 0, 0]
        data += chunk if kind == b"IDAT" else b""
        at += 12 + length
    channels = 3 if colour == 2 else 1
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels).astype(int)
    rows, above = [], np.zeros(width * channels, int)
    for filtered, line in zip(lines[:, 0], lines[:, 1:]):
        row = np.zeros(width * channels, int)
        for i, value in enumerate(line):
            left, up, corner = (row[i - channels] if i >= channels else 0), above[i], (above[i - channels] if i >= channels else 0)
            near = left + up - corner
            paeth = min((left, up, corner), key=lambda each: abs(near - each))  # the first of equal ones
            row[i] = (value + [0, left, up, (left + up) // 2, paeth][filtered]) % 256
        rows.append(row)
        above = row
    return np.stack(rows).reshape(height, width, channels)


def main():
    page, points, found, box = sys.argv[1:]
    box = float(box)
    with open(found, encoding="utf-8") as file:
        told = [row for row in map(json.loads, file) if row["kind"] == "point"]
    methods = list(dict.fromkeys(row["method"] for row in told))
    raised = {}
    for row in told:
        raised[row["example"]] = raised.get(row["example"], 0) + row["flops"] - row["flops_before"]
    chosen = sorted(raised, key=lambda example: (-raised[example], example))[:MOST]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    svg = next(each for each in re.findall(r"<svg.*?</svg>", text, re.S) if "slowed most" in each)
    images = [samples(base64.b64decode(each)) for each in re.findall(r'href="data:image/png;base64,([^"]*)"', svg)]
    arrays = {name: np.frombuffer(data, {"F32": "<f4", "I64": "<i8"}[kind]).reshape(shape)
              for name, (kind, shape, data) in read(points).items()}
    assert len(images) == len(chosen) * (1 + 2 * len(methods)), len(images)
    names = [name for name in arrays if name.startswith("slow/") and name != "slow/example"]
    names.sort(key=lambda name: int(name.split("/")[1].split(".")[0]))
    looked = 0
    for example in chosen:
        clean, *others = images[:1 + 2 * len(methods)]
        images = images[1 + 2 * len(methods):]
        for number, method in enumerate(methods):
            point, change = others[2 * number:2 * number + 2]
            numbers = arrays[names[number]][example].transpose(1, 2, 0).astype(float)
            expected = 255 * (numbers + box) / (2 * box)
            assert abs(point - expected).max() <= 0.5 + 1e-4, (example, method)
            linf = next(row["linf"] for row in told if (row["method"], row["example"]) == (method, example))
            # What the change says of the example, with what the three images round.
            back = expected - (change / 255 * 2 - 1) * linf / (2 * box) * 255
            assert abs(back - clean).max() <= 0.5 + linf / (2 * box) + 1e-3, (example, method, abs(back - clean).max())
            assert linf == 0 or change.min() == 0 or change.max() == 255, (example, method)
            looked += 1
        gates = next(row["gates_before"] for row in told if row["example"] == example)
        assert f">{example}, label " in svg and gates
    rows = [row for row in told if row["example"] in chosen]
    decisions = [d for row in rows for d in row["gates"].values()]
    decisions += [d for example in chosen for d in next(row for row in rows if row["example"] == example)["gates_before"].values()]
    for decision, mark in ((0, 'stroke="#0072B2" fill="#0072B2"'), (1, 'stroke="#0072B2" fill="#fff"'), (-1, "<circle ")):
        assert svg.count(mark) == decisions.count(decision), (mark, svg.count(mark), decisions.count(decision))
    print(f"{looked} points of {len(chosen)} examples are as their images show")


if __name__ == "__main__":
    main()
