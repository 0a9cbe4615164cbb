#!/usr/bin/env python3
"""Reads `estimate --roofline round --json` of roofline.tbem and checks it against sums worked out here."""
import json
import math
import sys

RATE, TF32, BANDWIDTH = 1e12, 8e12, 100e9


def least(flops, numbers, rate):
    return max(flops / rate, 4 * numbers / BANDWIDTH)


def expected(n, tf32):
    image, y = n * 8 * 16 * 16, n * 32 * 16 * 16
    products = TF32 if tf32 else RATE
    conv = 2 * n * 32 * 16 * 16 * 8 * 9, image + 32 * 8 * 9 + y, products
    relu = y, 2 * y, RATE
    inner = 32 * 16 * 16
    dense = 2 * n * inner * 10 + n * 10, n * inner + 10 * inner + 10 + n * 10, products
    return {"conv2d": conv, "relu": relu, "dense": dense}


tf32 = len(sys.argv) > 1 and sys.argv[1] == "tf32"
for line in sys.stdin:
    row = json.loads(line)
    if row["kind"] != "estimate":
        continue
    roofline = row["roofline"]
    want = expected(row["levels"]["batch"], tf32)
    assert [o["operator"] for o in roofline["operators"]] == list(want), roofline
    total = 0.0
    for got in roofline["operators"]:
        flops, numbers, rate = want[got["operator"]]
        seconds = least(flops, numbers, rate)
        total += seconds
        assert got["flops"] == flops, got
        assert got["bytes_moved"] == 4 * numbers, (got, numbers)
        assert math.isclose(got["least_seconds"], seconds, rel_tol=1e-12), (got, seconds)
        assert math.isclose(got["intensity"], flops / (4 * numbers), rel_tol=1e-12), got
        assert got["bound"] == ("compute" if flops / rate > 4 * numbers / BANDWIDTH else "memory"), got
    assert roofline["flops"] == sum(w[0] for w in want.values())
    assert roofline["bytes_moved"] == 4 * sum(w[1] for w in want.values())
    assert math.isclose(roofline["least_seconds"], total, rel_tol=1e-12)
    bounds = " ".join(o["bound"] for o in roofline["operators"])
    print(f"batch {row['levels']['batch']}: {bounds}")
