"""What `tbemc perturb --json` says of detectors and squeezers, twice: usage: defences.py FIRST SECOND. Nothing but times may differ."""
import json
import sys

METHODS = ["random", "uniform", "gradient(steps: 10)"]


def rows(path):
    with open(path, encoding="utf-8") as file:
        all_rows = [json.loads(line) for line in file]
    kept = [row for row in all_rows if row["kind"] in ("detected", "squeezed")]
    for row in kept:
        assert row.pop("seconds_of_score", 1) > 0, row
    return kept


def main():
    first, second = rows(sys.argv[1]), rows(sys.argv[2])
    assert first == second
    detected = [row for row in first if row["kind"] == "detected"]
    squeezed = [row for row in first if row["kind"] == "squeezed"]
    assert [row["method"] for row in detected] == METHODS
    for row in detected:
        assert row["layer"] == "conv_bn_relu.conv2d" and row["numbers"] == 8 * 12 * 12 and row["flops_of_score"] == 2304, row
        assert list(row["auc_by_learned"]) == METHODS and row["auc_by_learned"][row["method"]] == row["auc"], row
        assert row["pairs"] <= 38 and 0 <= row["auc"] <= 1, row
    assert [(row["squeezer"], row["method"]) for row in squeezed] == [(s, m) for s in ("bits(3)", "median(2)") for m in METHODS]
    uniform = next(row for row in detected if row["method"] == "uniform")
    print(f"{len(first)} rows are the same; uniform's AUC is {'above' if uniform['auc'] > 0.8 else 'below'} 0.8")


if __name__ == "__main__":
    main()
