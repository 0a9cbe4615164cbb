"""Reads `tbemc perturb examples/slow_inputs/slow_inputs.tbem --json` and fails unless the searches found what the example is about:
slow_inputs.py FILE. Numbers depend on the processor's last bits, so the bounds are far from what is measured."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
perturbations = {row["name"]: row for row in rows if row["kind"] == "perturbation"}
trained = {row["name"]: row for row in rows if row["kind"] == "trained"}
found = {(row["name"], row["method"]): row for row in rows if row["kind"] == "perturbed"}
expected = sum(len(perturbation["methods"]) for perturbation in perturbations.values())
if len(perturbations) != 7 or len(found) != expected:
    sys.exit(f"{len(perturbations)} perturbations with {expected} methods, and {len(found)} that ended")


def increase(name, method):
    return found[name, method]["increase_mean"]


def require(what, holds):
    print(f"{'holds' if holds else 'FAILS'}: {what}")
    return holds


def beats(name, method, baseline, factor):
    return require(f"{name}: {method} {increase(name, method):.1%}, {baseline} {increase(name, baseline):.1%}, factor {factor}",
                   increase(name, method) > 0 and increase(name, method) >= factor * increase(name, baseline))


results = [beats(name, "gradient", "random", 3) for name in perturbations if name not in ("hard_linf", "proof")]
results.append(beats("confidence_linf", "gradient", "deepsloth", 1))
before, after = increase("confidence_linf", "gradient"), increase("hard_linf", "gradient")
results.append(require(f"hardened: gradient {after:.1%}, 0.8 of {before:.1%} at most", after <= 0.8 * before))
kept = found["confidence_kept", "gradient"]["predictions_kept"]
results.append(require(f"keep label: {kept:.1%} of the predictions kept", kept == 1))
for gate in trained["skips"]["test_gates"]:
    share = gate["taken"] / gate["reached"]
    results.append(require(f"{gate['path']}: {share:.1%} of the test's examples skip", 0.02 < share < 0.98))
areas = {row["method"]: row["auc"] for row in rows if row["kind"] == "detected"}
results.append(require(f"detectors: the same amount everywhere {areas['uniform']:.3f}, above 0.9", areas["uniform"] > 0.9))
results.append(require(f"detectors: gradient {areas['gradient']:.3f}, above 0.7", areas["gradient"] > 0.7))
squeezed = {(row["squeezer"], row["method"]): row["increase_mean"] for row in rows if row["kind"] == "squeezed"}
left = squeezed["median(2)", "gradient"]
proof = next(row for row in rows if row["kind"] == "certified")
bound, found_most = proof["flops_bound"], found["proof", "gradient"]["flops"]
results.append(require(f"certified: a point costs at most {bound:.4g} FLOPs in the mean, and {found_most:.4g} were found", bound >= found_most))
results.append(require(f"certified: {proof['below_most']} of {proof['examples']} below the most", proof["below_most"] > 0))
results.append(require(f"a median leaves {left:.1%} of gradient's {before:.1%}, half at most", left <= 0.5 * before))
sys.exit(0 if all(results) else 1)
