"""An opaque operator takes what an operator of known shapes without FLOPs takes: compare.py OPAQUE KNOWN"""
import json
import sys

opaque, known = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
assert len(opaque) == len(known) == 2
for one, other in zip(opaque, known):
    assert one["parameters"] == other["parameters"] == 16 * 8 + 8 + 8 * 4 + 4
    assert one["memory"]["static"] == other["memory"]["static"], (one["memory"], other["memory"])
    assert one["memory"]["kinds"] == other["memory"]["kinds"]
    assert one["flops"]["step"] == other["flops"]["step"]
    assert one["flops"]["unknown_operators"] == 2 and "unknown_operators" not in other["flops"]
print("same parameters, static memory and FLOPs; 2 operators unknown")
