#!/usr/bin/env python3
"""Checks rows that take the weights of different trainings against `perturb` of these: subject_rows.py MEASURED.json
PERTURBED.json. Where the parameters are those of the training, a row says the same, to the last bit.
"""
import json
import sys

COLUMNS = {"attacked_flops": "flops", "increase_mean": "increase_mean", "headroom": "headroom", "attacked_accuracy": "accuracy",
           "mean_flops": "flops_before", "accuracy": "accuracy_before"}
TRAININGS = {"departing": "of_exits", "choosing": "of_skips", "exits": "of_exits", "later": "of_later"}


def objects(path, kind):
    with open(path, encoding="utf-8") as lines:
        return [each for each in map(json.loads, lines) if each["kind"] == kind]


def main():
    measured, perturbed = sys.argv[1:]
    points = {row["name"]: row for row in objects(perturbed, "perturbed")}
    wrong, seen = [], set()
    for row in objects(measured, "measure"):
        levels = row["levels"]
        if levels["threshold"] != 0.7 or levels.get("radius", 0.3) != 0.3:
            continue
        name = TRAININGS[levels.get("weights_of") or levels["subject"].split("(")[0]]
        numbers = row["over_examples"]
        seen.add((row["design"], name, numbers["mean_flops"]))
        wrong += [(name, ours, numbers[ours], points[name][theirs]) for ours, theirs in COLUMNS.items()
                  if numbers.get(ours) is not None and numbers[ours] != points[name][theirs]]
    print(f"{len(seen)} rows as their trainings' points: {wrong or 'the same'}")
    sys.exit(bool(wrong) or len(seen) != 4)


if __name__ == "__main__":
    main()
