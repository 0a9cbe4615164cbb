#!/usr/bin/env python3
"""Checks rows of a design whose examples are attacked against `perturb` of trainings that have the rows' parameters:
attacked_rows.py MEASURED.json PERTURBED.json NAME=THRESHOLD,BALL,RADIUS... Each row that such a perturbation has with one of its
methods says the same, to the last bit.
"""
import json
import sys

COLUMNS = {"attacked_flops": "flops", "increase_mean": "increase_mean", "headroom": "headroom", "raised_share": "raised",
           "attacked_accuracy": "accuracy", "psnr": "psnr"}


def objects(path, kind):
    with open(path, encoding="utf-8") as lines:
        return [each for each in map(json.loads, lines) if each["kind"] == kind]


def main():
    measured, perturbed, *places = sys.argv[1:]
    rows = {(row["levels"]["threshold"], row["levels"]["ball"], row["levels"]["radius"], row["levels"]["method"]): row["over_examples"]
            for row in objects(measured, "measure")}
    wrong, compared, increases = [], 0, set()
    for place in places:
        name, levels = place.split("=")
        threshold, ball, radius = levels.split(",")
        for method in (each for each in objects(perturbed, "perturbed") if each["name"] == name):
            row = rows[float(threshold), ball, float(radius), method["word"]]
            compared += 1
            increases.add(row["increase_mean"])
            expected = {ours: method[theirs] for ours, theirs in COLUMNS.items()}
            expected["raised_share"] /= method["examples"]
            expected["mean_flops"] = method["flops_before"]
            wrong += [(place, method["word"], key, row[key], value) for key, value in expected.items() if row[key] != value]
    print(f"{len(rows)} rows, {compared} as their points: {wrong or 'the same'}, {len(increases)} increases")
    sys.exit(bool(wrong) or compared != 2 * len(places))


if __name__ == "__main__":
    main()
