#!/usr/bin/env python3
"""Analysis of variance by least squares: compares `screen --json` with `estimate --json` of the same rows.

screen.py SCREEN ESTIMATE: sums of squares are differences of residuals of nested linear models with one column a level (treatment
coding), which is another way to them than means of cells.
"""
import itertools
import json
import sys

import numpy as np


def value(row, response):
    return {
        "parameters": lambda: row["parameters"],
        "flops": lambda: row["flops"]["step"],
        "static_memory": lambda: row["memory"]["static"],
        "arena": lambda: row["memory"]["arena"],
        "least_time": lambda: row["roofline"]["least_seconds"],
    }[response]()


def columns(rows, names):
    """Indicators of the combinations of the factors' levels, and a constant."""
    levels = sorted({tuple(r["levels"][n] for n in names) for r in rows})
    return [[1.0] * len(rows)] + [[float(tuple(r["levels"][n] for n in names) == level) for r in rows] for level in levels[1:]]


def residual(rows, y, terms):
    matrix = np.array(sum((columns(rows, t) for t in terms), [[1.0] * len(rows)])).T
    fitted = matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]
    return float(((y - fitted) ** 2).sum())


screens = [json.loads(line) for line in open(sys.argv[1])]
estimates = [json.loads(line) for line in open(sys.argv[2])]
for found in screens:
    rows = [r for r in estimates if r["design"] == found["design"]]
    assert found["rows"] == len(rows)
    y = np.array([float(value(r, found["response"])) for r in rows])
    scale = 1 / max(y.max(), 1e-300)
    y *= scale
    total = residual(rows, y, [])
    if found["squares"] == 0:
        assert total == 0
        continue
    assert abs(found["squares"] * scale**2 / total - 1) < 1e-9, found["response"]
    names = list(rows[0]["levels"])
    for effect in found["effects"]:
        share = 1 - residual(rows, y, [[effect["factor"]]]) / total
        assert abs(effect["share"] - share) < 1e-9, (found["response"], effect, share)
        others = [n for n in names if n != effect["factor"]]
        if found["grid"]:
            rest = residual(rows, y, [others]) / total
            assert abs(effect["total"] - rest) < 1e-9, (effect, rest)
        else:
            assert effect["total"] is None
    pairs = {tuple(i["factors"]): i["share"] for i in found["interactions"]}
    if found["grid"]:
        assert set(pairs) == set(itertools.combinations(names, 2))
    for (a, b), share in pairs.items():
        want = (residual(rows, y, [[a], [b]]) - residual(rows, y, [[a], [b], [a, b]])) / total
        assert abs(share - want) < 1e-9, (a, b, share, want)
    shares = sum(o["share"] for o in found["operators"])
    assert abs(shares - 1) < 1e-9, (found["response"], shares)
    print(f"{found['design']} {found['response']}: {len(pairs)} interactions, influential {' '.join(found['influential'])}")
