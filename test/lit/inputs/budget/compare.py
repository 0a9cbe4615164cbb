"""Values of budgets are those that `estimate` prints: compare.py BUDGETS ON_CPU ON_CARD ON_PROCESSOR; and those of `spec` are the
largest of them: compare.py --spec SPEC ESTIMATE"""
import json
import sys


def objects(path, *kinds):
    with open(path, encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [one for one in read if one["kind"] in kinds]


def rows(path):
    return objects(path, "estimate", "pytorch")


if sys.argv[1] == "--spec":
    told, estimated = objects(sys.argv[2], "budget"), rows(sys.argv[3])
    for one in told:
        figures = [figure for row in estimated for figure in row["budgets"] if figure["budget"] == one["budget"]]
        most = max(figures, key=lambda figure: figure["value"])
        assert len(figures) == len(estimated) and one["holds"] == all(figure["holds"] for figure in figures), (one, figures)
        assert {name: one[name] for name in most} == most, (one, most)
        assert one["levels"] == next(row["levels"] for row in estimated if row["row"] == one["row"]), one
    assert len(told) == len(estimated[0]["budgets"]), told
    print(f"{len(told)} budgets are those of `estimate`")
    sys.exit(0)
budgets, cpu, card, processor = (rows(path) for path in sys.argv[1:])
assert len(budgets) == len(cpu) == len(card) == len(processor) == 4
for row, planned, on_card, on_processor in zip(budgets, cpu, card, processor):
    figures = {(one["quantity"], one["on"]): one for one in row["budgets"]}
    expected = {
        ("parameters", None): {18: 11689512, 50: 25557032}[row["levels"]["depth"]],  # torchvision's
        ("memory", "cpu"): planned["memory"]["arena"],
        ("memory", "pytorch(h100_pcie)"): on_card["memory"]["device_at_least"],
        ("reserved", "pytorch(h100_pcie)"): on_card["memory"]["reserved"],
        ("live", "pytorch(cpu)"): on_processor["memory"]["live"],
    }
    assert set(figures) == set(expected), set(figures) ^ set(expected)
    for key, value in expected.items():
        one = figures[key]
        assert one["value"] == value, (key, one, value)
        assert one["holds"] == (one["value"] <= one["limit"]) and one["row"] == row["row"]
print("the budgets' values are the estimates'")
