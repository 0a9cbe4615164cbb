"""The estimates of input_under.tbem's design `models`: parameters by hand, memory of inputs by their shapes."""
import json
import sys

rows = [json.loads(line) for line in sys.stdin]
rows = [one for one in rows if one["kind"] == "estimate"]
assert len(rows) == 6, len(rows)
for one in rows:
    model, batch = one["levels"]["model"], one["levels"]["batch"]
    width = 4 if "4" in model else 8
    if model.startswith("pixels"):
        parameters = (3 * 9 * width + width) + (width * 5 + 5)
    else:
        parameters = 20 * 6 + 6 * 5 + 5
    assert one["parameters"] == parameters, (one, parameters)
