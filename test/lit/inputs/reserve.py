"""usage: reserve.py WITHOUT.jsonl BYTES: lines of what-if with a reserve, against those without."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    without = [json.loads(line) for line in file]
reserve = int(sys.argv[2])
lines = [json.loads(line) for line in sys.stdin]
assert len(lines) == len(without) > 10
for line, before in zip(lines, without):
    assert (line["question"], line["name"]) == (before["question"], before["name"])
    assert line["takes"] == before["takes"] + reserve, (line, before)
    assert line["reserve"] == reserve and before["reserve"] == 0 and line["complete"], line
print(f"every line takes {reserve} more than without, and is complete")
