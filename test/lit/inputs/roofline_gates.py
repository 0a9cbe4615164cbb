"""Reads three lines of `estimate --roofline round --json` of roofline_gates.tbem, with `--gates` 0.25, 0 and 1, and checks their least times
of paths against sums worked out here."""
import json
import math
import sys

RATE, BANDWIDTH, BATCH, WIDE, NARROW = 1e12, 100e9, 8, 512, 64


def dense(k, read, written):
    """k samples through a matrix, which is read whole."""
    return max(2 * k * read * written / RATE, 4 * (k * read + read * written + k * written) / BANDWIDTH) if k else 0


def seconds(computed, moved):
    """So many samples computed, the others left out; `moved` is what gathering and scattering take of all samples."""
    left = BATCH - computed
    sides = dense(computed, NARROW, WIDE) + dense(computed, WIDE, NARROW), dense(left, NARROW, NARROW)
    return sum(sides) + moved


rows = [json.loads(line) for line in sys.stdin]
quarter, none, every = [row for row in rows if row["kind"] == "estimate"]
paths = [row["paths"] for row in (quarter, none, every)]
moves = paths[1]["least_seconds_expected"] - seconds(BATCH, 0)
skips = paths[2]["least_seconds_expected"] - seconds(0, 0)
assert moves > 0 and math.isclose(moves, skips, rel_tol=1e-9), (moves, skips)  # rows move in and out, whichever side they take
assert math.isclose(paths[0]["least_seconds_min"], seconds(0, moves), rel_tol=1e-9), paths
assert math.isclose(paths[0]["least_seconds_max"], max(seconds(k, moves) for k in range(BATCH + 1)), rel_tol=1e-9), paths
mean = sum(math.comb(BATCH, k) * 0.75**k * 0.25 ** (BATCH - k) * seconds(k, moves) for k in range(BATCH + 1))
assert math.isclose(paths[0]["least_seconds_expected"], mean, rel_tol=1e-9), (paths, mean)
assert paths[0]["least_seconds_max"] > max(paths[1]["least_seconds_expected"], paths[2]["least_seconds_expected"])
assert quarter["roofline"]["least_seconds"] == paths[0]["least_seconds_max"]
print("computed, skipped and split: as worked out here")
