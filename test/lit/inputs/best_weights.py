"""Fails unless the checkpoint's weights and buffers are its best ones, and its best epoch is that of the lowest validation loss."""
import json
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
length = int.from_bytes(data[:8], "little")
header = json.loads(data[8 : 8 + length])
progress = json.loads(header.pop("__metadata__")["progress"])
values = {name: data[8 + length :][slice(*each["data_offsets"])] for name, each in header.items()}
best = [name for name in values if name.startswith("best/")]
assert len(best) == 7, best
for name in best:
    assert values[name] == values[name[len("best/") :]], name
losses = [epoch["validation"]["loss"] for epoch in progress["epochs"]]
assert progress["best_epoch"] == losses.index(min(losses)) + 1, (progress["best_epoch"], losses)
assert len(losses) == progress["best_epoch"] + 3, losses
