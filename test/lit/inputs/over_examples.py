#!/usr/bin/env python3
"""Checks what `measure` says of a network over a data set against the points of `perturb`, which asks the same examples by a batch
of its own: over_examples.py PROGRAM STORE MEASURED.json POINTS.json. The row with the threshold of the training has the FLOPs, the
decisions and the accuracy of the points before they were moved; the numbers of every row are those of its examples as the store has
them, and a higher threshold lets no more examples out.
"""
import json
import sqlite3
import statistics
import sys


def objects(path, kind):
    with open(path, encoding="utf-8") as lines:
        return [each for each in map(json.loads, lines) if each["kind"] == kind]


def close(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b), 1)


def pearson(pairs):
    x, y = zip(*pairs)
    return statistics.correlation(x, y) if len(set(x)) > 1 and len(set(y)) > 1 else None


def main():
    store, measured, points = sys.argv[1:]
    rows = {row["levels"]["threshold"]: row for row in objects(measured, "measure")}
    texts = dict(sqlite3.connect(store).execute("select identity, examples from results where examples <> ''"))
    exits, wrong = [], []
    for threshold, row in sorted(rows.items(), key=lambda each: float(each[0])):
        costs, numbers = json.loads(texts[row["identity"]]), row["over_examples"]
        flops = [each[3] for each in costs["examples"]]
        seconds = [time[3] / time[1] for time in costs["times"]]
        right = [each[1] == each[2] for each in costs["examples"]]
        expected = {"mean_flops": statistics.fmean(flops), "least_flops": min(flops), "most_flops": max(flops),
                    "mean_latency": statistics.fmean(seconds), "least_latency": min(seconds), "most_latency": max(seconds),
                    "accuracy": statistics.fmean(right), "examples": len(flops)}
        wrong += [(threshold, name) for name, value in expected.items() if not close(numbers[name], value)]
        correlation = pearson([time[2:4] for time in costs["times"]])
        if (correlation is None) != (numbers["correlation"] is None) or correlation and abs(correlation - numbers["correlation"]) > 1e-9:
            wrong.append((threshold, "correlation"))
        out = costs["gates"].index("exit")
        exits.append(sum(each[4][out] == 1 for each in costs["examples"]))
        if not close(numbers["gates"][out]["true_share"], exits[-1] / len(flops)):
            wrong.append((threshold, "share"))
    if exits != sorted(exits, reverse=True) or len(set(exits)) < 2:
        wrong.append(("exits", exits))
    own = json.loads(texts[rows[0.9]["identity"]])
    asked = [[point["label"], point["predicted_before"], point["flops_before"], list(point["gates_before"].values())]
             for point in objects(points, "point")]
    if [each[1:] for each in own["examples"]] != asked:
        wrong.append(("0.9", "points"))
    print(f"{len(rows)} rows over {len(own['examples'])} examples: {wrong or 'as their examples, and as the points'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
