"""Reads `tbemc ... --json` and fails unless a training ended with at least this test accuracy: accuracy.py 0.8."""
import json
import sys

ends = [each for each in map(json.loads, sys.stdin) if each["kind"] == "trained"]
assert ends, "nothing was trained"
for each in ends:
    print(f"{each['name']}: {each['status']}, test accuracy {each['test_accuracy']}")
    assert each["test_accuracy"] >= float(sys.argv[1])
