#!/usr/bin/env python3
"""Holds points of `tbemc perturb --points --json` against one another and against their summaries:
perturb_points.py STORED AGAIN. Points of a run that took them from the store and of one that searched anew are the same
but for their times; each lies in its ball; and the means of its summary are computed here from the points alone."""
import json
import math
import sys

TIMES = {"latency", "latency_before"}


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {kind: [row for row in rows if row["kind"] == kind] for kind in ("perturbation", "perturbed", "point")}


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else None


def agree(what, told, computed):
    if (told is None) != (computed is None) or told is not None and not math.isclose(told, computed, rel_tol=1e-9, abs_tol=1e-12):
        sys.exit(f"{what}: {told}, computed {computed}")


def check(perturbation, summary, points):
    """One method."""
    what = f"{summary['name']}, {summary['method']}"
    most, slack = perturbation["flops_most"], 1 + 1e-5  # numbers are f32
    for point in points:
        if point[perturbation["norm"]] > perturbation["radius"] * slack:
            sys.exit(f"{what}: example {point['example']} moved by {point[perturbation['norm']]}")
        if not perturbation["flops_least"] <= point["flops"] <= most:
            sys.exit(f"{what}: example {point['example']} costs {point['flops']}")
    if [point["example"] for point in points] != list(range(perturbation["examples"])):
        sys.exit(f"{what}: not each example has one point")
    increases = [(point["flops"] - point["flops_before"]) / point["flops_before"] for point in points]
    room = [point for point in points if point["flops_before"] < most]
    moved = [point for point in points if point["linf"] > 0]
    agree(f"{what}, increase_mean", summary["increase_mean"], mean(increases))
    agree(f"{what}, increase_most", summary["increase_most"], max(increases))
    agree(f"{what}, raised", summary["raised"], sum(increase > 0 for increase in increases))
    agree(f"{what}, headroom", summary["headroom"],
          mean((point["flops"] - point["flops_before"]) / (most - point["flops_before"]) for point in room))
    for field in ("flops_before", "flops", "linf", "l2"):
        agree(f"{what}, {field}", summary[field], mean(point[field] for point in points))
    for field in ("psnr", "ssim"):
        agree(f"{what}, {field}", summary[field], mean(point[field] for point in moved))
    agree(f"{what}, accuracy", summary["accuracy"], mean(point["predicted"] == point["label"] for point in points))
    agree(f"{what}, accuracy_before", summary["accuracy_before"],
          mean(point["predicted_before"] == point["label"] for point in points))
    kept = mean(point["predicted"] == point["predicted_before"] for point in points)
    agree(f"{what}, predictions_kept", summary["predictions_kept"], kept)
    if perturbation["keep_label"] and kept != 1:
        sys.exit(f"{what}: predictions changed")


def main():
    stored, again = read(sys.argv[1]), read(sys.argv[2])
    bare = [[{key: value for key, value in point.items() if key not in TIMES} for point in run["point"]]
            for run in (stored, again)]
    if bare[0] != bare[1]:
        sys.exit("a new search found other points than the store has")
    for run in (stored, again):
        for summary in run["perturbed"]:
            perturbation = next(one for one in run["perturbation"] if one["name"] == summary["name"])
            points = [one for one in run["point"] if (one["name"], one["method"]) == (summary["name"], summary["method"])]
            check(perturbation, summary, points)
    if any(summary["stored"] != summary["examples"] for summary in stored["perturbed"]):
        sys.exit("the first run did not find its points in the store")
    if any(summary["stored"] != 0 for summary in again["perturbed"]):
        sys.exit("the second run took points from the store")
    print(f"{len(stored['point'])} points: the same, within their balls and boxes, and as their summaries say")


if __name__ == "__main__":
    main()
