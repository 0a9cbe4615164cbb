"""Holds certificates against the points that methods found: usage: certify.py FILE.jsonl, as `tbemc perturb --json --points` prints."""
import json
import sys

UNKNOWN, NEVER = -1, -2


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    most = {each["name"]: each["flops_most"] for each in records if each["kind"] == "perturbation"}
    points = [each for each in records if each["kind"] == "point"]
    certificates = [each for each in records if each["kind"] == "certificate"]
    looked = decisions = 0
    for certificate in certificates:
        here = [p for p in points if (p["name"], p["example"]) == (certificate["name"], certificate["example"])]
        assert here, certificate
        assert certificate["flops_found"] == max(max(p["flops"], p["flops_before"]) for p in here), certificate
        if not any(certificate["open"].values()):
            assert certificate["flops_bound"] == certificate["flops_bound_least"], certificate
        for point in here:
            for flops, gates in ((point["flops_before"], point["gates_before"]), (point["flops"], point["gates"])):
                looked += 1
                assert certificate["flops_bound_least"] <= flops <= certificate["flops_bound"] <= most[point["name"]]
                for gate, known in certificate["gates"].items():
                    if known == UNKNOWN or gates[gate] == -1:  # the example itself did not come to the gate
                        continue
                    decisions += 1
                    assert known != NEVER and gates[gate] == known, (certificate, point)
    for summary in (each for each in records if each["kind"] == "certified"):
        of = [each for each in certificates if each["name"] == summary["name"]]
        assert len(of) == summary["examples"] and not summary["unsupported"], summary
        assert summary["below_most"] == sum(each["flops_bound"] < most[summary["name"]] for each in of), summary
        assert abs(summary["flops_bound"] - sum(each["flops_bound"] for each in of) / len(of)) < 1e-6 * summary["flops_bound"]
    print(f"{len(certificates)} certificates hold for {looked} points and examples, {decisions} decisions")


if __name__ == "__main__":
    main()
