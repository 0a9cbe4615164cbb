"""Checks the cases that `tbemc spec --tests --json` makes of sofl.tbem, with conditions written anew here."""
import collections
import json
import sys


def allowed(process, x):
    if process == "Window":
        return x["H"] + 2 * x["P"] >= x["F"] >= 1
    if process == "Turn":
        return True
    if process == "Largest":
        return 1 <= len(x["s"]) <= 4
    if process == "Letters":
        return len(x["s"]) <= 3
    return len(x["~stack"]) <= 3 if process == "Push" else len(x["s"]) > 0


seen = collections.defaultdict(list)
for line in sys.stdin:
    one = json.loads(line)
    if one["kind"] != "spec_test":
        continue
    x = one["inputs"]
    assert one["expected"] == ("definition" if allowed(one["process"], x) else "refusal"), one
    assert x not in [c["inputs"] for c in seen[one["process"]]], one
    seen[one["process"]].append(one)

for c in seen["Window"]:
    assert min(c["inputs"][name] for name in "HFP") >= 0 and c["inputs"]["S"] >= 1, c
assert {c["inputs"]["at"] for c in seen["Turn"]} == {"north", "east", "south", "west"}
assert all(letter in "abc" for c in seen["Letters"] for letter in c["inputs"]["s"])
assert {len(c["inputs"]["s"]) for c in seen["Largest"]} >= {0, 1, 2, 3, 4}, seen["Largest"]
assert all(number >= 0 for c in seen["Largest"] for number in c["inputs"]["s"])
print({name: len(cases) for name, cases in sorted(seen.items())})
