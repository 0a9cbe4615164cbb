"""filtered.py DESIGN.json KEPT.csv ALL.csv [ESTIMATE.json SCREEN.json]: what `filter` left of filtered.tbem, counted anew."""
import collections
import csv
import itertools
import json
import sys


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return [tuple(int(cell) for cell in row) for row in list(csv.reader(lines))[1:]]


def good(size, kernel, stride):
    return (size - kernel) % stride == 0 and size >= kernel


def objects(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def strength(rows):
    found = 0
    for t in (1, 2, 3):
        for columns in itertools.combinations(range(3), t):
            counts = collections.Counter(tuple(row[c] for c in columns) for row in rows)
            if len(counts) != 4**t or len(set(counts.values())) != 1:
                return found
        found = t
    return found


def pairs(rows):
    return sum(len({(row[a], row[b]) for row in rows}) for a, b in itertools.combinations(range(3), 2))


design = next(one for one in objects(sys.argv[1]) if one["kind"] == "design")
kept, everything = rows_of(sys.argv[2]), rows_of(sys.argv[3])
left_out = [i for i, row in enumerate(everything) if not good(*row)]
assert 0 < len(left_out) < len(everything) == 16, left_out
assert kept == [row for row in everything if good(*row)], kept
told = design["filter"]
assert [one["row"] for one in told["rows"]] == left_out, told
assert all(tuple(one["levels"].values()) == everything[one["row"]] for one in told["rows"]), told
assert {one["code"] for one in told["rows"]} <= {"E0302"}, told
assert design["runs"] == len(kept) and design["strength"] == told["strength"] == strength(kept), design
assert told["strength_before"] == strength(everything) == 2
assert told["pairs_covered"] == pairs(kept) and told["pairs_covered_before"] == pairs(everything) == told["pairs"] == 48
deviation = lambda count, even: abs(count - even) / even
largest = 0
for t in (1, 2):
    for columns in itertools.combinations(range(3), t):
        levels = [sorted({row[c] for row in everything}) for c in columns]
        for combination in itertools.product(*levels):
            count = sum(tuple(row[c] for c in columns) == combination for row in kept)
            largest = max(largest, deviation(count, len(kept) / 4**t))
assert abs(deviation(told["imbalance"]["count"], told["imbalance"]["even"]) - largest) < 1e-12, (told, largest)
for path in sys.argv[4:5]:
    numbers = [one["row"] for one in objects(path) if one["kind"] == "estimate"]
    assert numbers == [i for i in range(16) if i not in left_out], numbers
for path in sys.argv[5:]:
    assert {one["rows"] for one in objects(path) if one["kind"] == "screen"} == {len(kept)}
