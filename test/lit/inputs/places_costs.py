"""Reads what `perturb` and `measure` tell of places_costs.tbem, and holds it together."""
import json
import math
import sys

told = [json.loads(line) for line in sys.stdin]


def of(kind):
    return [row for row in told if row["kind"] == kind]


tested = of("trained")[0]["test_gates"][0]
measured = of("measure")[0]["over_examples"]
share = measured["gates"][0]["true_share"]
assert math.isclose(share * tested["reached"], tested["taken"]), (share, tested)
print(f"{tested['taken']} of {tested['reached']} places skipped, by the test and by the measurement")
network = of("perturbation")[0]
least, most = network["flops_least"], network["flops_most"]
assert math.isclose(measured["mean_flops"], least + (1 - share) * (most - least)), (measured, least, most)
assert least <= measured["least_flops"] < measured["most_flops"] <= most
place = (most - least) / 64  # of an image's 64
for value in measured["least_flops"], measured["most_flops"]:
    assert math.isclose((value - least) / place, round((value - least) / place), abs_tol=1e-9), value
methods = {row["word"]: row for row in of("perturbed")}
assert all(row["flops_before"] == measured["mean_flops"] for row in methods.values()), methods
print(f"{', '.join(methods)}: FLOPs before are those of the measurement")
assert methods["gradient"]["flops"] > methods["random"]["flops"], methods
print("gradient costs more than random")
