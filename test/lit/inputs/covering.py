"""Checks the rows of a covering array by trying every combination there could be.

usage: covering.py DESIGN.jsonl STRENGTH NAME
"""
import itertools
import json
import sys

LEVELS = {
    "pairs": {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "c": [1, 2, 3], "e": [1, 2, 3], "f": [1, 2]},
    "even": {"width": [27, 32, 57, 64], "kernel": [2, 3, 4, 5], "pad": [0, 1, 2, 3], "stride": [1, 2, 3, 4], "units": [8, 16, 24]},
    "triples": {"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3], "e": [1, 2], "f": [1, 2]},
}


def allowed(name, row):
    if name == "even":
        return ((row["width"] - row["kernel"] + 2 * row["pad"]) % row["stride"] == 0 and row["width"] * row["units"] <= 1100
                and row["units"] < row["width"])
    return name != "triples" or row["a"] <= row["b"] or row["c"] > 1


def tuples(rows, strength):
    return {choice for row in rows for choice in itertools.combinations(sorted(row.items()), strength)}


def main():
    path, strength, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with open(path, encoding="utf-8") as file:
        record = next(fields for fields in map(json.loads, file) if fields.get("covering"))
    rows = record["rows"]
    if name not in LEVELS:  # without constraints, and too large for every row there could be
        held = sum(len({tuple(row[f] for f in choice) for row in rows}) for choice in itertools.combinations(rows[0], strength))
        wanted_sum = sum(3**strength for _ in itertools.combinations(rows[0], strength))
        print(f"{name}: {held} of {wanted_sum} combinations of {len(rows[0])} factors, rows without a search: "
              f"{0 < record['covering']['rows_without_search'] < len(rows)}")
        return
    levels = LEVELS[name]
    every = [dict(zip(levels, values)) for values in itertools.product(*levels.values())]
    wanted = tuples([row for row in every if allowed(name, row)], strength)
    there = tuples(rows, strength)
    forbidden = sum(not allowed(name, row) for row in rows)
    print(f"{name}: {len(there)} combinations in {len(rows)} rows, {len(wanted - there)} missing, {forbidden} forbidden; "
          f"covered {record['covering']['covered'] == len(wanted)}, "
          f"impossible {record['covering']['impossible'] == len(tuples(every, strength)) - len(wanted)}")


if __name__ == "__main__":
    main()
