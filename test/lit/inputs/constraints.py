"""Checks the rows of constrained designs: conditions, rank of the quadratic model (exactly, in fractions), what is said of them.

usage: constraints.py DESIGNS.jsonl
"""
import fractions
import itertools
import json
import sys


def rank(rows):
    rows, found = [row[:] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            by = rows[r][column] / rows[found][column]
            rows[r] = [x - by * y for x, y in zip(rows[r], rows[found])]
        found += 1
    return found


def pairs(rows):
    return {pair for row in rows for pair in itertools.combinations(sorted(row.items()), 2)}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        designs = {record["design"]: record for record in map(json.loads, file) if "rows" in record}
    squares = designs["squares"]
    rows, repair = squares["rows"], squares["repair"]
    even = sum((row["width"] - row["kernel"] + 2 * row["pad"]) % row["stride"] == 0 for row in rows)
    model = [[fractions.Fraction(1)] + [fractions.Fraction(v) ** d for v in row.values() for d in (1, 2)] for row in rows]
    print(f"squares: {even} of {len(rows)} rows valid, rank {rank(model)}, said {repair['rank']} of {repair['parameters']}; "
          f"pairs {repair['pairs_covered'] == len(pairs(rows))}; {squares['constraints']['combinations']} combinations; "
          f"kept enough {repair['kept'] >= 14}, good enough {repair['relative'] >= 0.95}")
    labels = designs["labels"]
    rows = labels["rows"]
    counts = {pair: sum(set(pair) <= set(row.items()) for row in rows) for pair in pairs(rows)}
    print(f"labels: {sum(sum(row.values()) > 3 for row in rows)} of {len(rows)} rows valid, {len(counts)} pairs {set(counts.values())} times, "
          f"strength {labels['strength']}")


if __name__ == "__main__":
    main()
