"""What `tbemc design nested.tbem --json` says, counted again. usage: nested.py DESIGNS.jsonl"""
import collections
import itertools
import json
import sys


def pairs_balanced(rows, factors):
    for f, g in itertools.combinations(factors, 2):
        both = [r for r in rows if r[f] is not None and r[g] is not None]
        if {f, g} == {"model", "kernel"}:
            groups = [both]
            expected = 2
        else:
            models = {r["model"] for r in both}
            groups = [[r for r in both if r["model"] == m] for m in models] if "kernel" in (f, g) else [both]
            expected = len({r[f] for r in both}) * len({r[g] for r in both})
        for group in groups:
            counts = collections.Counter((r[f], r[g]) for r in group)
            assert len(counts) == expected and len(set(counts.values())) == 1, (f, g, counts)


for line in open(sys.argv[1]):
    design = json.loads(line)
    if design["kind"] != "design":
        continue
    rows = design["rows"]
    name = design["design"]
    for row in rows:
        assert (row["kernel"] is None) == (row["model"] == "plain"), row
    if name == "d":
        pairs_balanced(rows, ["model", "kernel", "batch", "width"])
        print(f"d: {len(rows)} rows, balanced where factors exist")
    if name == "all":
        wanted = {("plain", None, None, b) for b in (2, 4)}
        wanted |= {("conv", 3, d, b) for d in (1, 2) for b in (2, 4)} | {("conv", 5, None, b) for b in (2, 4)}
        assert collections.Counter((r["model"], r["kernel"], r["dilation"], r["batch"]) for r in rows) == collections.Counter(wanted)
        print(f"all: {len(rows)} rows, each combination that exists once")
    if name == "pairs":
        wanted = {("conv", k) for k in (3, 5)} | {(k, b) for k in (3, 5) for b in (2, 4, 8)}
        wanted |= {(m, b) for m in ("plain", "conv") for b in (2, 4, 8)}
        there = {(r["model"], r["kernel"]) for r in rows} | {(r["kernel"], r["batch"]) for r in rows}
        there |= {(r["model"], r["batch"]) for r in rows}
        assert wanted <= there, wanted - there
        assert design["covering"]["covered"] == len(wanted), design["covering"]
        print(f"pairs: {len(rows)} rows, all pairs")
    if name == "limited":
        assert all(r["kernel"] is None or r["kernel"] * r["width"] <= 24 for r in rows)
        print(f"limited: {len(rows)} rows, no row breaks the condition")
