"""Reads what `tbemc perturb harden.tbem --json` says of the two trainings and of the searches: the hardened network is as accurate on
examples as they are, and a search makes it cost less than half of what it adds to the other one."""
import json
import sys

rows = [json.loads(line) for line in sys.stdin]
accuracy = {row["name"]: row["test_accuracy"] for row in rows if row["kind"] == "trained"}
increase = {row["name"]: row["increase_mean"] for row in rows if row["kind"] == "perturbed" and row["word"] == "gradient"}
assert accuracy["plain"] > 0.95 and accuracy["hard"] > 0.95, accuracy
assert increase["slow"] > 0.5, increase  # there is something to harden against
assert increase["hardslow"] < 0.5 * increase["slow"], increase
print("hardened: as accurate, and less than half of the increase")
