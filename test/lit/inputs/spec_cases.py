"""Checks the cases that `tbemc spec --tests --json` makes of tested.tbem, with conditions written anew here."""
import collections
import json
import sys


def guards_of(process, x):
    """None where `pre` does not hold, else the scenarios that apply."""
    if process == "Take":
        if x["~stock"] < 0 or x.get("amount", 0) < 0:
            return None
        assert ("all" in x) != ("amount" in x), x
        return [1] if "all" in x else [2]
    if process == "Windows":
        return [1] if x["kernel"] >= 1 and x["h"] >= x["kernel"] else None
    if process == "Postage":
        if not 0 < x["weight"] <= 30:
            return None
        return [1] if x["express"] else [2] if x["weight"] <= 2 else [3]
    if x["parts"] < 1 or x["whole"] % x["parts"]:
        return None
    return [1] if x["whole"] // x["parts"] < 4 else [2]


seen = collections.defaultdict(list)
for line in sys.stdin:
    one = json.loads(line)
    if one["kind"] == "spec_tests":
        cases = seen[one["process"]]
        assert one["cases"] == len(cases) and one["to_refuse"] == sum(c["scenario"] is None for c in cases), one
        continue
    x = one["inputs"]
    wanted = guards_of(one["process"], x)
    assert one["expected"] == ("refusal" if wanted is None else "definition"), one
    assert wanted is None if one["scenario"] is None else one["scenario"] in wanted, one
    assert x not in [c["inputs"] for c in seen[one["process"]]], one
    seen[one["process"]].append(one)

windows = [c for c in seen["Windows"] if c["condition"] == "kernel <= h" or c["condition"] == "h >= kernel"]
assert windows, seen["Windows"]
for c in windows:
    assert c["inputs"]["h"] - c["inputs"]["kernel"] == c["distance"], c
distances = [c["distance"] for c in windows if c["origin"] == "vibration"]
assert distances[:5] == [0, 1, 2, 3, 4] and distances[5:] == [3, 2, 1, 0][: len(distances) - 5], distances
assert sorted({c["distance"] for c in windows if c["origin"] == "outside"}) == [-2, -1], windows
assert {c["inputs"]["stride"] for c in seen["Windows"]} == {1, 2, 3, 4}
weights = [c["inputs"]["weight"] for c in seen["Postage"]]
assert 2 in weights and 30 in weights and 0 in weights and 2.125 in weights and 30.125 in weights, weights
assert all(int(8 * w) == 8 * w for w in weights), weights
print({name: len(cases) for name, cases in sorted(seen.items())})
