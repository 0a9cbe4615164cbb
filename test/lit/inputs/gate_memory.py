"""Fails unless no row's step reached beyond the most, none stayed below the least that its path allows, and the expected lies between:
gate_memory.py ESTIMATES MEASURED."""
import json
import sys

paths = {json.dumps(row["levels"]): row["paths"] for row in map(json.loads, open(sys.argv[1])) if row["kind"] == "estimate"}
rows = [row for row in map(json.loads, open(sys.argv[2])) if row["kind"] == "measure"]
assert len(rows) == len(paths) == 6
for row in rows:
    path, peak, tau = paths[json.dumps(row["levels"])], row["arena_peak"], row["levels"]["tau"]
    assert path["arena_min"] <= path["arena_expected"] <= path["arena_max"], path
    assert path["arena_max"] == row["arena_planned"] and path["arena_min"] <= peak <= path["arena_max"], (row, path)
    if tau == 2:
        # The meter takes the end of every allocation that has a touched byte, of other branches too.
        assert path["arena_min"] <= peak < path["arena_max"], (row, path)
    if tau == -1:
        assert peak == path["arena_max"], (row, path)
print("6 rows within their bounds")
